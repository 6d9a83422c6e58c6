"""Which address of an identity is selected, and for which protocol."""

import json

import files
import url_refusals
from issued import ISSUED, text

NOTES = {
    "BadEndpoint": (
        "An address that is not a URL, or has the scheme of another protocol, is refused, and not passed over. A failure "
        "most likely connects to another host, or without TLS."
    ),
    "DefaultMaster": (
        "Without an address of its own a protocol goes to default_master, with default_port unless it names a port, "
        "and default_path. A failure most likely loses one of these, or turns ws: into wss: or back."
    ),
    "ExplicitEndpoint": (
        "An address that was issued for the protocol counts before default_master. A failure most likely adds port or "
        "path."
    ),
    "Preference": (
        "WSS, then HTTPS, then MQTT: the first that is switched on, supported here, and has an address with TLS. A "
        "failure most likely follows the caller's order, or stops at one without an address."
    ),
    "Requested": (
        "A requested protocol is used or refused, never replaced. A failure most likely falls back to another, or "
        "does not distinguish a protocol that is not supported here from one that the hub does not offer."
    ),
    "Unchanged": "An issued address is used unchanged. A failure most likely drops the slash at its end.",
}
ALL = {"wss": True, "https": True, "mqtt": True}
ENDPOINTS = {"wss": "wss://hub.example/ws", "https": "https://hub.example/api"}
BROKER = {"endpoint": "mqtts://broker.example", "username": "broker-user-5d", "password": "broker-password-2b"}


def request(issued, options):
    return {"text": text({**ISSUED, **issued}), **options}


def chooses(comment, flag, issued, protocol, url, **options):
    """A test in which an address is selected. If it has no TLS, allowPlaintext permits that."""
    is_secure = url.lower().startswith(("wss:", "https:", "mqtts:"))
    if not is_secure:
        options["allowPlaintext"] = True
    return files.valid(comment, [flag], **request(issued, options), protocol=protocol, url=url, tls=is_secure)


def refuses(comment, flag, issued, error="no-endpoint", **options):
    return files.invalid(comment, [flag], error, **request(issued, options))


def preferences():
    everything = {"protocols": ALL, "data_plane_endpoints": ENDPOINTS, "mqtt": BROKER}
    wss, https, mqtt = ("wss", ENDPOINTS["wss"]), ("https", ENDPOINTS["https"]), ("mqtt", BROKER["endpoint"])

    def switched(**protocols):
        return {**everything, "protocols": {**ALL, **protocols}}

    def with_address(name):
        return {**everything, "data_plane_endpoints": {name: ENDPOINTS[name]}}

    without_broker = {"protocols": ALL, "data_plane_endpoints": ENDPOINTS}
    preferred = [
        chooses("all three", "Preference", everything, *wss),
        chooses("wss switched off", "Preference", switched(wss=False), *https),
        chooses("wss and https switched off", "Preference", switched(wss=False, https=False), *mqtt),
        refuses("all switched off", "Preference", switched(wss=False, https=False, mqtt=False)),
        chooses("wss without an address", "Preference", with_address("https"), *https),
        chooses("wss and https without an address", "Preference", {"protocols": ALL, "mqtt": BROKER}, *mqtt),
        refuses("all without an address", "Preference", {"protocols": ALL}),
        chooses("wss not supported", "Preference", everything, *https, supported=["https", "mqtt"]),
        chooses("supported in another order", "Preference", everything, *wss, supported=["mqtt", "https", "wss"]),
        chooses("mqtt alone supported", "Preference", everything, *mqtt, supported=["mqtt"]),
        refuses("none supported", "Preference", everything, supported=[]),
        refuses("https alone supported, without an address", "Preference", with_address("wss"), supported=["https"]),
        chooses("wss on by default", "Preference", {"data_plane_endpoints": ENDPOINTS, "mqtt": BROKER}, *wss),
        chooses("https on with an address", "Preference", {"data_plane_endpoints": {"https": https[1]}, "mqtt": BROKER}, *https),
        chooses("mqtt on with credentials", "Preference", {"mqtt": BROKER}, *mqtt),
        refuses("mqtt switched off, with credentials", "Preference", {"mqtt": BROKER, "protocols": {"mqtt": False}}),
        refuses("nothing but the credentials", "Preference", {}),
    ]
    unsupported = {"issued": everything, "error": "unsupported-protocol"}
    requested = [
        chooses("wss", "Requested", everything, *wss, requested="wss"),
        chooses("https", "Requested", everything, *https, requested="https"),
        chooses("mqtt", "Requested", everything, *mqtt, requested="mqtt"),
        chooses("https, supported", "Requested", everything, *https, requested="https", supported=["wss", "https"]),
        refuses("https, not supported", "Requested", **unsupported, requested="https", supported=["wss"]),
        refuses("mqtt, none supported", "Requested", **unsupported, requested="mqtt", supported=[]),
        refuses("an unknown protocol", "Requested", **unsupported, requested="quic"),
        refuses("wss, switched off", "Requested", switched(wss=False), requested="wss"),
        refuses("https, without an address", "Requested", with_address("wss"), requested="https"),
        refuses("mqtt, without a broker", "Requested", without_broker, requested="mqtt"),
    ]
    return preferred + requested


# Addresses

WSS_URLS = [
    "wss://hub.example",
    "wss://hub.example/",
    "wss://hub.example:443/a/b/",
    "ws://hub.local:5678/ws",
    "wss://[2001:db8::1]:9000/ws",
    "wss://hub.example/ws?a=1",
]
HTTPS_URLS = ["https://hub.example:8443/api", "http://hub.local"]
NO_WSS_URLS = [
    "https://hub.example",
    "mqtts://hub.example",
    "ftp://hub.example",
    "hub.example",
    "hub.example:443",
    "//hub.example",
    "wss:hub.example",
    "wss://",
    "wss:///ws",
]


def explicit():
    def given(protocol, url):
        return {"protocols": ALL, "data_plane_endpoints": {protocol: url}, "default_master": "wss://other.example:9000"}

    def broker_at(endpoint, **further):
        return {**given("mqtt", "mqtts://other.example"), "mqtt": {**BROKER, "endpoint": endpoint, **further}}

    flag, bad = "ExplicitEndpoint", {"flag": "BadEndpoint", "error": "bad-endpoint"}
    plain, secure = "mqtt://broker.example:1884", "mqtts://broker.example:1884"
    tests = []
    for url in WSS_URLS:
        flag_of_url = "Unchanged" if url.endswith("/") else flag
        tests.append(chooses(url, flag_of_url, given("wss", url), "wss", url, requested="wss"))
    tests += [chooses(url, flag, given("https", url), "https", url, requested="https") for url in HTTPS_URLS]
    tests += [
        chooses("that of the broker", flag, broker_at(plain), "mqtt", plain, requested="mqtt"),
        chooses("that of the broker, tls", flag, broker_at(plain, tls=True), "mqtt", secure, requested="mqtt"),
    ]
    for url in dict.fromkeys([*NO_WSS_URLS, *url_refusals.urls("wss", "hub.example")]):
        tests.append(refuses(f"wss: {url_refusals.shown(url)}", issued=given("wss", url), **bad))
    other = given("https", "wss://hub.example")
    return [
        *tests,
        refuses("https: wss://hub.example", issued=other, requested="https", **bad),
    ]


# default_master and default_port, and the addresses that follow for wss and for https.
MASTERS = [
    ("hub.example", None, "wss://hub.example:5679", "https://hub.example:5679"),
    ("hub.example", 443, "wss://hub.example:443", "https://hub.example:443"),
    ("hub.example:9000", 443, "wss://hub.example:9000", "https://hub.example:9000"),
    ("192.0.2.7", None, "wss://192.0.2.7:5679", "https://192.0.2.7:5679"),
    ("[2001:db8::1]", None, "wss://[2001:db8::1]:5679", "https://[2001:db8::1]:5679"),
    ("[2001:db8::1]:9000", 443, "wss://[2001:db8::1]:9000", "https://[2001:db8::1]:9000"),
    ("wss://hub.example", None, "wss://hub.example:5679", "https://hub.example:5679"),
    ("https://hub.example", 443, "wss://hub.example:443", "https://hub.example:443"),
    ("wss://hub.example:9000", 443, "wss://hub.example:9000", "https://hub.example:9000"),
    ("wss://hub.example/", None, "wss://hub.example:5679", "https://hub.example:5679"),
    ("ws://hub.local", None, "ws://hub.local:5679", "http://hub.local:5679"),
    ("http://hub.local:8080", None, "ws://hub.local:8080", "http://hub.local:8080"),
    ("HTTP://hub.local", None, "ws://hub.local:5679", "http://hub.local:5679"),
]
PATHS = [("/", ""), ("/public", "/public"), ("public", "/public"), ("/public/", "/public"), ("/a/b", "/a/b")]
NO_MASTERS = ["ftp://hub.example", "mqtts://hub.example", "wss://"]


def from_default_master():
    def at(master, **further):
        return {"protocols": ALL, "default_master": master, **further}

    flag = "DefaultMaster"
    tests = []
    for master, port, wss, https in MASTERS:
        issued = at(master) if port is None else at(master, default_port=port)
        comment = master if port is None else f"{master}, default_port {json.dumps(port)}"
        tests.append(chooses(f"{comment}: wss", flag, issued, "wss", wss))
        tests.append(chooses(f"{comment}: https", flag, issued, "https", https, requested="https"))
    for path, written in PATHS:
        issued = at("hub.example", default_path=path)
        tests.append(chooses(f"default_path {path}", flag, issued, "wss", f"wss://hub.example:5679{written}"))
    for master, written in [("hub.example/a", "/a/public"), ("wss://hub.example/a/", "/a/public")]:
        issued = at(master, default_path="/public")
        tests.append(chooses(f"{master}, default_path /public", flag, issued, "wss", f"wss://hub.example:5679{written}"))
    tests.append(chooses("hub.example/a, no default_path", flag, at("hub.example/a"), "wss", "wss://hub.example:5679/a"))
    with_https = at("hub.example", data_plane_endpoints={"https": "https://other.example/api"})
    without_wss = at("hub.example", default_path="/public") | {"protocols": {"wss": False, "https": True}}
    tests += [
        chooses("https with an address of its own", flag, with_https, "wss", "wss://hub.example:5679"),
        chooses("wss switched off, and a default_path", flag, without_wss, "https", "https://hub.example:5679/public"),
        refuses("no host", flag, {"default_port": 443, "default_path": "/public"}),
        refuses("no default for mqtt", flag, at("hub.example"), requested="mqtt"),
    ]
    for master in NO_MASTERS:
        tests.append(refuses(f"default_master {master}", "BadEndpoint", at(master), "bad-endpoint"))
    return tests


def tests():
    return [*preferences(), *explicit(), *from_default_master()]
