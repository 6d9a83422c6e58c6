"""The URL to which a client connects its WebSocket: it names the client in the query, so it belongs in no log."""

import base64
import re
import urllib.parse

from hub_protocol import Refused, encode
from mqtt_topics import BLANKS, HOST

ADDRESS = re.compile(rf"(wss?)://(?:{HOST})(?::([0-9]+))?(/[^{BLANKS}?#\\]*)?(\?[^{BLANKS}#\\]*)?", re.IGNORECASE)


def authorized_url(address, user_agent, access_key, allow_plaintext=False):
    if not user_agent or not access_key or ":" in user_agent:  # a hub reads the user agent up to the first colon
        raise Refused("bad-argument")
    parts = ADDRESS.fullmatch(address)
    if parts is None or not 1 <= int(parts[2] or 1) <= 65535:
        raise Refused("bad-endpoint")
    if parts[1].lower() == "ws" and not allow_plaintext:
        raise Refused("plaintext-endpoint")
    query = parts[4] or ""
    fields = [field for field in query[1:].split("&") if field and name_of(field) != "authorization"]
    authorization = base64.b64encode(encode(f"{user_agent}:{access_key}")).decode()
    fields.append(f"authorization={urllib.parse.quote(authorization, safe='')}")
    path = "" if parts[3] else "/"
    return f"{address.removesuffix(query)}{path}?{'&'.join(fields)}"


def name_of(field):
    return urllib.parse.unquote(field.split("=")[0])
