"""Two unmodified clients from PyPI. Each connects once, sends requests, and reports in a line of JSON.

    clients.py hivemind-bus-client OPTIONS
    clients.py thalovant OPTIONS
    clients.py hivemind-bus-client-echo OPTIONS

The third connects again and again, and sends back what it receives, as the judge expects. OPTIONS is a JSON object: port, accessKey, password, and the lengths of the requests. The keys are kept in XDG_CONFIG_HOME.
"""

import hashlib
import json
import logging
import os
import sys
import threading
import time

logging.disable()  # some messages go to stdout


def asks(options):
    return ["\xe4" + "x" * length for length in options["lengths"]]


def hivemind_bus_client(options):
    from hivemind_bus_client.client import BinaryDataCallbacks, HiveMessageBusClient
    from hivemind_bus_client.message import HiveMessage, HiveMessageType, HiveMindBinaryPayloadType
    from ovos_bus_client.message import Message

    files, arrived = [], threading.Event()

    class Files(BinaryDataCallbacks):
        def handle_receive_file(self, bin_data, file_name):
            files.append(hashlib.sha256(bin_data).hexdigest())
            arrived.set()

    client = HiveMessageBusClient(
        key=options["accessKey"],
        password=options["password"],
        host="wss://localhost",
        port=options["port"],
        useragent="interop",
        self_signed=False,
        bin_callbacks=Files(),
    )
    client.connect(site_id="lobby", handshake_max_retries=options["retries"])
    time.sleep(options["linger"])
    replies = []
    for text in asks(options):
        request = Message("recognizer_loop:utterance", {"utterances": [text]}, {})
        reply = client.wait_for_payload_response(request, "speak", timeout=10)
        replies.append(reply and reply.payload.data["utterance"])
    if options.get("file"):
        file = HiveMindBinaryPayloadType.FILE
        content = bytes(range(256)) * 800
        client.emit(HiveMessage(HiveMessageType.BINARY, content, metadata={"file_name": "a.bin"}, bin_type=file), file)
        arrived.wait(10)
    client.close()
    return {"outcome": "ready", "replies": replies, "files": files}


def hivemind_bus_client_echo(options):
    import random

    from hivemind_bus_client.client import HiveMessageBusClient
    from hivemind_bus_client.noise import NoiseTransport
    from hivemind_bus_client.protocol import HiveMindSlaveProtocol
    from ovos_utils.fakebus import FakeBus
    from websocket import ABNF

    decrypt = NoiseTransport.decrypt_frame

    def echo(transport, data):
        content = decrypt(transport, data)
        if content is not None:
            transport.send_message(content, lambda frame: client.client.send(frame, ABNF.OPCODE_BINARY))

    NoiseTransport.decrypt_frame = echo  # returns None: there is nothing for the client
    random.uniform = lambda low, high: 0  # the pause before it dials again
    client = HiveMessageBusClient(
        key=options["accessKey"],
        password=options["password"],
        host="ws://localhost",
        port=options["port"],
        useragent="interop",
    )
    client.protocol = HiveMindSlaveProtocol(client, site_id="lobby", identity=client.identity)
    client.protocol.bind(FakeBus())
    while True:  # it stops where it takes a close for a refusal
        client.run_forever()
        client.client = client.create_client()


def thalovant(options):
    from thalovant import ThalovantClient, ThalovantIdentity

    endpoint = f"wss://localhost:{options['port']}"
    identity = ThalovantIdentity.from_mapping(
        {
            "access_key": options["accessKey"],
            "password": options["password"],
            "site_id": "lobby",
            "default_master": endpoint,
            "data_plane_endpoints": {"wss": endpoint},
        }
    )
    files, arrived = [], threading.Event()

    def receive(binary):
        files.append(hashlib.sha256(binary.data).hexdigest())
        arrived.set()

    client = ThalovantClient(identity, useragent="interop", protocol="wss")
    client.connect()
    time.sleep(options["linger"])
    client.on_binary(receive)
    replies = [client.ask(text).text for text in asks(options)]
    if options.get("file"):
        client.send_utterance("a file, please")
        arrived.wait(10)
    client.close()
    return {"outcome": "ready", "replies": replies, "files": files}


if __name__ == "__main__":
    run = {
        "hivemind-bus-client": hivemind_bus_client,
        "hivemind-bus-client-echo": hivemind_bus_client_echo,
        "thalovant": thalovant,
    }[sys.argv[1]]
    try:
        report = run(json.loads(sys.argv[2]))
    except Exception as error:  # some tests expect a refusal
        report = {"outcome": type(error).__name__}
    print(json.dumps(report), flush=True)
    os._exit(0)  # without waiting for other threads
