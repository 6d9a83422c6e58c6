"""The URL of a WebSocket with the authorization of a client."""

import base64
import urllib.parse

import files

NOTES = {
    "Authorization": (
        "The query has `authorization=`, then `<user agent>:<access key>` in UTF-8 and base64. A failure most likely names "
        "the field otherwise, or leaves out the user agent."
    ),
    "Plus": "A + of the base64 is written %2B. Servers read + as a space, and refuse the client.",
}
HUB = "wss://hub.example/public"
NAMES = [
    ("no padding", "lamp", "key-7"),
    ("colons in the access key", "lamp", "a:b:c"),
    ("an access key of one character", "a", "k"),
    ("blanks, which are not trimmed", "my lamp", " key "),
    ("blanks around the user agent", " lamp ", "key"),
    ("a line feed in the access key", "lamp", "key\n"),
    ("percent signs and pluses", "a+b", "%41+%2B"),
    ("characters beyond ASCII", "lamp\xe9", "cl\xe9-\u20ac"),
    ("an access key of 200 characters", "lamp", "0123456789" * 20),
]
NO_URLS = [
    *["hub.example", "hub.example:443", "//hub.example", "wss:hub.example", "wss:/hub.example", "://hub.example"],
    *["wss//hub.example", "wss://", "wss:///path", "wss://?query", "wss://#fragment"],
    *[f"{scheme}://hub.example/" for scheme in ["https", "http", "mqtts", "mqtt", "wsss", "ftp"]],
]


def authorization(user_agent, access_key):
    text = base64.b64encode(f"{user_agent}:{access_key}".encode()).decode()
    return f"authorization={urllib.parse.quote(text, safe='')}"


def accepted(comment, user_agent, access_key, flag="Authorization"):
    """Where the percent-encoding of / and =, which the protocol leaves open, changes nothing."""
    names = {"address": HUB, "userAgent": user_agent, "accessKey": access_key}
    return files.valid(comment, [flag], **names, url=f"{HUB}?{authorization(user_agent, access_key)}")


def refused(url):
    fields = {"address": url, "userAgent": "lamp", "accessKey": "n?~>o"}
    return files.invalid(f"authorization for {url!r}", ["BadEndpoint"], "bad-endpoint", **fields)


def tests():
    accepted_names = [names for names in NAMES if "%" not in authorization(*names[1:])]
    plus = accepted("a plus in base64", "lamp", ">>>>", "Plus")
    return [*(accepted(*names) for names in accepted_names), plus, *map(refused, NO_URLS)]
