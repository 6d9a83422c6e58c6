"""A client and a hub of protocol 3 that share no code with hub-protocol: noiseprotocol over cryptography (OpenSSL),
argon2-cffi, Python's json, and websockets. The hub echoes messages, and the client checks its echoes. Both report in JSON lines.
peers.interop.ts plays the other side.

    peer.py hub OPTIONS      prints {"port": …}, then an outcome for each connection
    peer.py client OPTIONS   connects once, and prints its outcome

OPTIONS is a JSON object.
"""

import asyncio
import hashlib
import json
import ssl
import sys
import warnings

from argon2.low_level import Type, hash_secret_raw
from noise.connection import Keypair, NoiseConnection
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

warnings.simplefilter("ignore")
CHUNK = 65000


def report(**fields):
    print(json.dumps(fields), flush=True)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def envelope(kind, payload):
    return json.dumps({"msg_type": kind, "payload": payload, "metadata": {}, "route": []})


def derive_psk(password, node_id):
    salt = hashlib.sha256(node_id.encode()).digest()
    return hash_secret_raw(password.encode(), salt, 3, 65536, 1, 32, Type.ID)


def noise_connection(initiator, hello, offer, pattern, suite, psk, static_key, remote_key):
    name = f"Noise_{pattern}_{suite}".encode()
    noise = NoiseConnection.from_name(name)
    noise.set_as_initiator() if initiator else noise.set_as_responder()
    noise.set_prologue(canonical(hello) + canonical(offer) + name)
    noise.set_psks(psk)
    noise.set_keypair_from_private_bytes(Keypair.STATIC, bytes.fromhex(static_key))
    if pattern == "KKpsk0":
        noise.set_keypair_from_public_bytes(Keypair.REMOTE_STATIC, bytes.fromhex(remote_key))
    noise.start_handshake()
    return noise


def remote_static(handshake_state):
    return handshake_state.rs.public_bytes.hex()


class Session:
    """Markers and chunks over an established Noise connection."""

    def __init__(self, socket, noise):
        self.socket, self.noise = socket, noise

    async def send(self, kind, payload):
        single, first = (0, 2) if kind == "json" else (1, 3)
        if len(payload) <= CHUNK:
            frames = [bytes([single]) + payload]
        else:
            parts = [payload[at : at + CHUNK] for at in range(0, len(payload), CHUNK)]
            markers = [first] + [4] * (len(parts) - 2) + [5]
            frames = [bytes([marker]) + part for marker, part in zip(markers, parts)]
        for frame in frames:
            await self.socket.send(bytes(self.noise.encrypt(frame)))

    async def receive(self):
        kind, parts = None, []
        while True:
            data = await self.socket.recv()
            assert isinstance(data, bytes), "text on an established session"
            frame = bytes(self.noise.decrypt(data))
            marker, payload = frame[0], frame[1:]
            if marker in (0, 1):
                assert kind is None
                return ("json" if marker == 0 else "binary"), payload
            if marker in (2, 3):
                assert kind is None
                kind = "json" if marker == 2 else "binary"
            assert kind is not None and marker <= 5
            parts.append(payload)
            if marker == 5:
                return kind, b"".join(parts)


async def run_client(options):
    context = ssl.create_default_context(cafile=options["ca"])
    async with connect(options["url"], ssl=context, max_size=2**20) as socket:
        hello = json.loads(await socket.recv())
        offer = json.loads(await socket.recv())
        assert hello["msg_type"] == "hello" and offer["msg_type"] == "shake"
        hello, offer = hello["payload"], offer["payload"]
        assert offer["max_protocol_version"] >= 3 and options["suite"] in offer["noise"]["suites"]
        pinned = options.get("pin")
        pattern = "KKpsk0" if pinned and "KKpsk0" in offer["noise"]["patterns"] else "XXpsk2"
        psk = derive_psk(options["password"], hello["node_id"])
        noise = noise_connection(True, hello, offer, pattern, options["suite"], psk, options["staticKey"], pinned)
        handshake_state = noise.noise_protocol.handshake_state
        message = bytes(noise.write_message(canonical({"binarize": False, "encodings": ["JSON-HEX"]}))).hex()
        fields = {"pattern": pattern, "suite": options["suite"], "msg": message}
        await socket.send(envelope("shake", {"noise": fields}))
        reply = json.loads(await socket.recv())["payload"]["noise"]["msg"]
        json.loads(bytes(noise.read_message(bytes.fromhex(reply))) or b"{}")
        if pattern == "XXpsk2":
            await socket.send(envelope("shake", {"noise": {"msg": bytes(noise.write_message(b"")).hex()}}))
        session = Session(socket, noise)
        greeting = {"pubkey": "", "session": {"session_id": "python"}, "site_id": "python"}
        await session.send("json", envelope("hello", greeting).encode())
        sizes = []
        for kind in ["binary", "json"]:
            for size in options["sizes"][kind]:
                payload = (bytes(range(256)) * (size // 256 + 1))[:size] if kind == "binary" else b"1" * size
                await session.send(kind, payload)
                assert await session.receive() == (kind, payload), f"{kind} of {size} bytes came back changed"
                sizes.append(size)
        report(
            outcome="ready",
            pattern=pattern,
            hubKey=remote_static(handshake_state),
            handshakeHash=noise.get_handshake_hash().hex(),
            echoed=sizes,
        )


HELLO_FIELDS = {"peer": "python::1", "pubkey": "", "h\xfcb \U0001f3e0": 1.0, "\ue000": 12345678901234567890, "\U0001f600": -0.0}
OFFER_FIELDS = {"binarize": False, "encodings": ["JSON-HEX"], "ciphers": [], "ratio": 0.1, "big": 1e22, "__proto__": None}


async def run_hub(options):
    psk = derive_psk(options["password"], options["nodeId"])
    client_key = None

    async def handle(socket):
        nonlocal client_key
        try:
            patterns = ["XXpsk2"] + (["KKpsk0"] if client_key else [])
            hello = {"node_id": options["nodeId"], **HELLO_FIELDS}
            required = "25519_ChaChaPoly_SHA256"  # which a client refuses to do without
            suites = [required] if options["suite"] == required else [required, options["suite"]]
            noise_offer = {"patterns": patterns, "suites": suites}
            offer = {"max_protocol_version": 3, "noise": noise_offer, **OFFER_FIELDS}
            await socket.send(envelope("hello", hello))
            await socket.send(envelope("shake", offer))
            first = json.loads(await socket.recv())["payload"]["noise"]
            pattern, suite = first["pattern"], first["suite"]
            noise = noise_connection(False, hello, offer, pattern, suite, psk, options["staticKey"], client_key)
            handshake_state = noise.noise_protocol.handshake_state
            asked = bytes(noise.read_message(bytes.fromhex(first["msg"])))
            assert asked == canonical(json.loads(asked)), "the payload of message 1 is not canonical"
            reply = bytes(noise.write_message(json.dumps({"encoding": "JSON-HEX"}).encode())).hex()
            await socket.send(envelope("shake", {"noise": {"msg": reply}}))
            if pattern == "XXpsk2":
                last = json.loads(await socket.recv())["payload"]["noise"]
                assert list(last) == ["msg"]
                assert bytes(noise.read_message(bytes.fromhex(last["msg"]))) == b""
                client_key = remote_static(handshake_state)
            session = Session(socket, noise)
            greeting = json.loads((await session.receive())[1])
            report(
                outcome="ready",
                pattern=pattern,
                clientKey=client_key,
                handshakeHash=noise.get_handshake_hash().hex(),
                greeting=greeting,
            )
            while True:
                await session.send(*await session.receive())
        except ConnectionClosed as error:
            report(outcome="closed", code=error.rcvd.code if error.rcvd else None)
        except Exception as error:  # some tests expect a handshake to fail
            report(outcome="failed", error=type(error).__name__)
            await socket.close(1008)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options["cert"], options["key"])
    async with serve(handle, "localhost", 0, ssl=context, max_size=2**20) as server:
        report(port=server.sockets[0].getsockname()[1])
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until our parent is gone


async def main(role, options):
    try:
        await (run_hub if role == "hub" else run_client)(options)
    except ConnectionClosed as error:
        report(outcome="closed", code=error.rcvd.code if error.rcvd else None)
    except Exception as error:
        report(outcome="failed", error=type(error).__name__)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
