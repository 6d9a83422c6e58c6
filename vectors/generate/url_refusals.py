"""Addresses that are refused: for each part of a URL (RFC 3986, section 3), what it must not contain."""

import json
import re

# White space that ECMAScript's trim() removes: trimmed around an address, refused inside.
TRIMMED = "\t\n\v\f\r \xa0\u1680\u2000\u2009\u2028\u2029\u202f\u205f\u3000\ufeff"
# Refused anywhere, because programs disagree about their meaning: control characters and the backslash.
NOWHERE = "\x00\x01\x1f\x7f\x85\\"
NOTE = (
    "An address whose parts contain what programs read differently: white space, control characters or backslashes, in the "
    "host ASCII's delimiters, and a port that is not 1 to 65535 in digits. A failure most likely has a lenient parser."
)
# ASCII characters that a host must not contain and that do not end it.
NOT_IN_HOSTS = "!\"$%&'()*+,;<=>^`{|}[]"
PORTS = [
    *["0", "00", "65536", "65537", "70000", "99999", "4294967297", "18446744073709551617", "-1", "+1"],
    *["1.0", "1e3", "0x50", "8883x", "port", "1:2", ""],
    *["\uff18\uff18", "\u0668\u0668"],
]
NO_ADDRESSES = [
    *["2001:db8::1", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]a", "a[2001:db8::1]"],
    *["[]", "[v1.a]", "[::1%25eth0]"],
]


def flag_of(url):
    """BadEndpoint for what is no URL of ours in any reading of RFC 3986, UrlSyntax for what a lenient parser would take."""
    if url.strip() and any(character in url for character in [*TRIMMED, *NOWHERE]):
        return "UrlSyntax"
    scheme, found, rest = url.strip().partition("://")
    authority = re.split("[/?#]", rest)[0]
    if not found or not re.fullmatch("[A-Za-z][A-Za-z0-9+.-]*", scheme) or authority == "" or "@" in authority:
        return "BadEndpoint"
    is_host = re.fullmatch("[A-Za-z0-9.-]+", authority) or re.search("[?#]", rest)
    return "BadEndpoint" if is_host else "UrlSyntax"


def urls(scheme, host):
    """Strings that are not a URL with a host."""
    middle = len(host) // 2
    first, second = host[:middle], host[middle:]
    no_urls = [
        host,
        f"{host}:443",
        f"//{host}",
        f"{scheme}:{host}",
        f"{scheme}:/{host}",
        f"://{host}",
        f"{scheme}//{host}",
        f"{scheme}://",
        f"{scheme}:///path",
        f"{scheme}://:443",
        f"{scheme}://?query",
        f"{scheme}://#fragment",
        f" {scheme} ://{host}",
        f"1{scheme}://{host}",
        f"{scheme}!://{host}",
        f"{scheme}%73://{host}",
        f"{scheme}\u017f://{host}",
    ]
    for character in [*TRIMMED, *NOWHERE]:
        no_urls += [f"{scheme}://{first}{character}{second}", f"{scheme}://{host}/a{character}b"]
    for character in NOWHERE:
        no_urls += [f"{character}{scheme}://{host}", f"{scheme}://{host}{character}"]
    for character in NOT_IN_HOSTS:
        no_hosts = [f"{character}{host}", f"{first}{character}{second}", f"{host}{character}"]
        no_urls += [f"{scheme}://{no_host}" for no_host in no_hosts]
    no_urls += [f"{scheme}://{host}:{port}" for port in PORTS]
    no_urls += [f"{scheme}://[2001:db8::1]:{port}" for port in ["0", "65536", "port", ""]]
    no_urls += [f"{scheme}://{address}" for address in [*NO_ADDRESSES, f"[{host}]"]]
    return no_urls


def shown(url):
    """An address for a comment."""
    return json.dumps(url)[1:-1]
