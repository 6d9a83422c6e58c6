"""HiveMind's hub as hivescope, HiveMind's library for tests, runs it: its WebSocket, its records, its assertions.

Prints the URL in a line of JSON. After each line on standard input, which is the session id of a client, it prints one
with the messages of the assertions that failed.
"""

import json
import logging
import sys
from types import SimpleNamespace

logging.disable()

import hivescope  # noqa: E402 - it configures logging when it is imported

access_key, password = sys.argv[1:]
hub = hivescope.MasterNode.create("M0", use_loopback=True)
hub.register_satellite(access_key, password, allowed_types=["recognizer_loop:utterance"])


def answer(message):
    bus.emit(message.reply("speak", {"utterance": f"You said: {message.data['utterances'][0]}"}))
    bus.emit(message.reply("ovos.utterance.handled"))


def failures(session_id):
    """What hivescope finds wrong with all that the hub recorded of the only client that is connected."""
    clients = hub.connected_peers()
    client = SimpleNamespace(name="the client", peer=clients[0] if len(clients) == 1 else None)
    utterance = "recognizer_loop:utterance"
    checks = [
        lambda: hivescope.assert_client_registered(hub, client.peer),
        lambda: hivescope.assert_hello_received(hub, 1),
        lambda: hivescope.assert_bus_message_routed(hub, 2),
        lambda: hivescope.assert_msg1_envelope(hub, utterance, 2),
        lambda: hivescope.assert_source_stamped(hub, client),
        lambda: hivescope.assert_session_id_natted(hub, client, session_id),
        lambda: hivescope.assert_session_inbound_preserved(hub, client, {"site_id": "lobby"}),
    ]
    found = []
    for check in checks:
        try:
            check()
        except AssertionError as error:
            found.append(str(error))
    records = hub.recorder.snapshot()
    hub.recorder.clear()
    return found + [f"the hub could not read {record!r}" for record in records if record.msg_type == "_decode_error"]


bus = hub.agent_protocol.bus
bus.on("recognizer_loop:utterance", answer)
hub.network_protocol.run()
print(json.dumps(hub.network_protocol.url), flush=True)
for line in sys.stdin:
    print(json.dumps(failures(json.loads(line))), flush=True)
