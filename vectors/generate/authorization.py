"""The URL of a WebSocket with the authorization of a client."""

import base64
import urllib.parse

import files
import url_refusals

NOTES = {
    "Authorization": (
        "The query has `authorization=`, then `<user agent>:<access key>` in UTF-8, base64 with padding, and "
        "percent-encoding. A failure most likely writes base64url, leaves out the padding, or does not escape the +, "
        "which servers read as a space."
    ),
    "Query": (
        "The rest of the URL stays as it is, except for a field that is named `authorization` already, percent-encoded "
        "or not; a path of no characters becomes a slash. A failure most likely adds a second question mark, sorts the "
        "fields, or names the client twice."
    ),
    "UserAgent": (
        "User agent and access key are not empty, and the user agent has no colon, since a hub reads it up to the first "
        "one. An implementation that accepts others is known to the hub by another key."
    ),
}
HUB = "wss://hub.example/public"
NAMES = [
    ("the example of the rules", "lamp", "n?~>o"),
    ("no padding", "lamp", "key-7"),
    ("padding of one", "lamp", "key-70"),
    ("padding of two", "lamp", "key-700"),
    ("a slash in base64", "a", "??????"),
    ("a plus in base64", "a", ">>>>>>"),
    ("slashes, pluses and padding", "kiosk", "7~~~~~?????>>>>"),
    ("colons in the access key", "lamp", "a:b:c"),
    ("an access key of one character", "a", "k"),
    ("blanks, which are not trimmed", "my lamp", " key "),
    ("blanks around the user agent", " lamp ", "key"),
    ("a line feed in the access key", "lamp", "key\n"),
    ("percent signs and pluses", "a+b", "%41+%2B"),
    ("characters beyond ASCII", "lampe-\xe9", "cl\xe9-\u20ac-\U0001f511"),
    ("an access key of 200 characters", "lamp", "0123456789" * 20),
]
ADDRESSES = ["wss://hub.example/", "wss://hub.example:5679/a/b.c", "wss://192.0.2.7/", "wss://[2001:db8::1]:443/ws/"]
ADDRESSES += ["wss://hub.example:1/", "wss://hub.example:65535/", "wss://my_hub~1.example/"]
# The URL, and what comes before the authorization.
QUERIES = [
    ("no path", "wss://hub.example", "wss://hub.example/?"),
    ("a port and no path", "wss://hub.example:5679", "wss://hub.example:5679/?"),
    ("a query and no path", "wss://hub.example?x=1", "wss://hub.example/?x=1&"),
    ("scheme and host in capitals", "WSS://Hub.Example/Public", "WSS://Hub.Example/Public?"),
    ("percent-encoding in the path", f"{HUB}/%7e%C3%A9", f"{HUB}/%7e%C3%A9?"),
    ("an empty query", f"{HUB}?", f"{HUB}?"),
    ("other fields", f"{HUB}?site=kitchen&x=%20a+b", f"{HUB}?site=kitchen&x=%20a+b&"),
    ("fields out of order, one twice", f"{HUB}?b=2&a=1&b=1", f"{HUB}?b=2&a=1&b=1&"),
    ("a field without a value", f"{HUB}?flag&x=", f"{HUB}?flag&x=&"),
    ("question marks and slashes in the query", f"{HUB}?a=/?&b=?", f"{HUB}?a=/?&b=?&"),
    ("an authorization", f"{HUB}?authorization=b2xk", f"{HUB}?"),
    ("an authorization between others", f"{HUB}?a=1&authorization=b2xk&b=2", f"{HUB}?a=1&b=2&"),
    ("two authorizations", f"{HUB}?authorization=b2xk&authorization=", f"{HUB}?"),
    ("an authorization without a value", f"{HUB}?authorization", f"{HUB}?"),
    ("an authorization with a letter percent-encoded", f"{HUB}?%61uthorization=b2xk", f"{HUB}?"),
    ("an authorization percent-encoded", f"{HUB}?" + "".join(f"%{ord(c):02X}" for c in "authorization"), f"{HUB}?"),
    ("names that resemble it", f"{HUB}?Authorization=a&authorizations=b&x=authorization", None),
]
NO_URLS = [
    *["hub.example", "hub.example:443", "//hub.example", "wss:hub.example", "wss:/hub.example", "://hub.example"],
    *["wss//hub.example", "wss://", "wss:///path", "wss://:443/", "wss://?query", "wss://#fragment"],
    *[f"{scheme}://hub.example/" for scheme in ["https", "http", "mqtts", "mqtt", "wsss", "ftp"]],
    *["wss://hub.example/#a", "wss://hub.example/?x=1#a", "wss://hub.example:0/", "wss://hub.example:65536/"],
    *[f"wss://hub.example:{port}/" for port in ["65537", "70979", "4294967297", "18446744073709557295"]],
    *["wss://hub.example:port/", "wss://hub .example/", "wss://hub.example/\n", "wss://hub.example\\@other.example/"],
]


def authorization(user_agent, access_key):
    text = base64.b64encode(f"{user_agent}:{access_key}".encode()).decode()
    return f"authorization={urllib.parse.quote(text, safe='')}"


def accepted(comment, flag, url, before, user_agent="lamp", access_key="n?~>o", **options):
    return files.valid(
        comment,
        [flag],
        address=url,
        userAgent=user_agent,
        accessKey=access_key,
        **options,
        url=before + authorization(user_agent, access_key),
    )


def refused(comment, flag, error, url=HUB, user_agent="lamp", access_key="n?~>o", **options):
    fields = {"address": url, "userAgent": user_agent, "accessKey": access_key, **options}
    return files.invalid(comment, [flag], error, **fields)


def tests():
    plain = "ws://hub.example/public"
    return [
        *(accepted(comment, "Authorization", HUB, f"{HUB}?", *names) for comment, *names in NAMES),
        *(accepted(f"to {address}", "Authorization", address, f"{address}?") for address in ADDRESSES),
        *(accepted(comment, "Query", url, before or f"{url}&") for comment, url, before in QUERIES),
        refused("an empty user agent", "UserAgent", "bad-argument", user_agent=""),
        refused("a colon in the user agent", "UserAgent", "bad-argument", user_agent="lamp:2"),
        refused("an empty access key", "UserAgent", "bad-argument", access_key=""),
        refused("ws:", "Plaintext", "plaintext-endpoint", plain),
        refused("ws: in capitals", "Plaintext", "plaintext-endpoint", "WS://hub.example/"),
        refused("ws:, which is not allowed", "Plaintext", "plaintext-endpoint", plain, allowPlaintext=False),
        accepted("ws:, which is allowed", "Plaintext", plain, f"{plain}?", allowPlaintext=True),
        accepted("wss:, where ws: is allowed", "Plaintext", HUB, f"{HUB}?", allowPlaintext=True),
        *(refused(f"authorization for {url!r}", url_refusals.flag_of(url), "bad-endpoint", url) for url in NO_URLS),
    ]
