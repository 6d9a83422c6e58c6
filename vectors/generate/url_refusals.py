"""What is no address: for each part of a URL (RFC 3986, section 3), what must not stand in it, by one change each."""

import json

# White space that is trimmed around an address, and that no address has inside: what ECMAScript's trim() takes off.
TRIMMED = "\t\n\v\f\r \xa0\u1680\u2000\u2009\u2028\u2029\u202f\u205f\u3000\ufeff"
# Further characters that no address has anywhere, for programs disagree about what they mean: controls, and the backslash.
NOWHERE = "\x00\x01\x1f\x7f\x85\\"
# The delimiters of ASCII that end no part of a URL after the host: no host has them. (A percent sign would escape one.)
NOT_IN_HOSTS = "!\"$%&'()*+,;<=>^`{|}[]"
PORTS = [
    *["0", "00", "65536", "99999", "18446744073709551617", "-1", "+1", "1.0", "1e3", "0x50", "8883x", "port", "1:2", ""],
    *["\uff18\uff18", "\u0668\u0668"],
]


def urls(scheme, host):
    """Strings that are no URL with a host."""
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
        no_urls += [f"{scheme}://{character}{host}", f"{scheme}://{first}{character}{second}", f"{scheme}://{host}{character}"]
    no_urls += [f"{scheme}://{host}:{port}" for port in PORTS]
    no_urls += [f"{scheme}://[2001:db8::1]:{port}" for port in ["0", "65536", "port", ""]]
    for address in ["2001:db8::1", "[2001:db8::1", "2001:db8::1]", "[]", f"[{host}]", "[2001:db8::1]a", "a[2001:db8::1]", "[v1.a]", "[::1%25eth0]"]:
        no_urls.append(f"{scheme}://{address}")
    return no_urls


def shown(url):
    """An address for a comment."""
    return json.dumps(url)[1:-1]
