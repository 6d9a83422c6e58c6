"""Addresses that are refused, since they are no URL with a host in any reading of RFC 3986, section 3."""

import json


def urls(scheme, host):
    return [
        host,
        f"{host}:443",
        f"//{host}",
        f"{scheme}:{host}",
        f"{scheme}:/{host}",
        f"://{host}",
        f"{scheme}//{host}",
        f"{scheme}://",
        f"{scheme}:///path",
        f"{scheme}://?query",
        f"{scheme}://#fragment",
        f"1{scheme}://{host}",
        f"{scheme}!://{host}",
        f"{scheme}%73://{host}",
        f"{scheme}\u017f://{host}",
    ]


def shown(url):
    """An address for a comment."""
    return json.dumps(url)[1:-1]
