"""HiveMind's hub, unmodified, with another agent: the default agent needs a message bus beside the hub. This one is the
default agent over a bus in memory, which answers utterances, and "session?" with the session that it was given; with --agent it is
the one of the configuration. Files are sent back to their sender. With --speech, binary messages go to the protocol that the
configuration names, which finds the plugins in `speech/`.

With --echo there is no agent: after HELLO, each message goes back as it came out of the transport, as the judge expects.
"""

import json
import os
import sys
import threading

from hivemind_bus_client.message import HiveMessage, HiveMessageType
from hivemind_bus_client.serialization import HiveMindBinaryPayloadType
from hivemind_core import service
from hivemind_core.protocol import HiveMindClientConnection
from hivemind_ovos_agent_plugin import OVOSAgentProtocol
from hivemind_plugin_manager.protocols import BinaryDataHandlerProtocol


class Agent(OVOSAgentProtocol):
    def __post_init__(self):  # instead of connecting to a message bus
        self.register_bus_handlers()
        self.bus.on("recognizer_loop:utterance", self.answer)

    def answer(self, message):
        text = message.data["utterances"][0]
        answer = json.dumps(message.context["session"]) if text == "session?" else f"You said: {text}"
        self.bus.emit(message.reply("speak", {"utterance": answer}))
        self.bus.emit(message.reply("ovos.utterance.handled"))


class Files(BinaryDataHandlerProtocol):
    def handle_receive_file(self, bin_data, file_name, client):
        file = HiveMindBinaryPayloadType.FILE
        client.send(HiveMessage(HiveMessageType.BINARY, bin_data, metadata={"file_name": file_name}, bin_type=file))


def send_everything_back(decode):
    def decode_hello(client, payload):
        message = decode(client, payload)
        transport = client.noise_transport
        if transport is not None and message is not None and message.msg_type == HiveMessageType.HELLO:
            decrypt = transport.decrypt_frame

            def echo(data):
                content = decrypt(data)
                if content is not None:
                    transport.send_message(content, lambda frame: client.send_msg(frame, True))

            transport.decrypt_frame = echo  # returns None: there is nothing for the hub
        return message

    return decode_hello


def end_with_parent():
    sys.stdin.read()
    os._exit(1)


threading.Thread(target=end_with_parent, daemon=True).start()
if "--echo" in sys.argv:
    HiveMindClientConnection.decode = send_everything_back(HiveMindClientConnection.decode)
if "--agent" not in sys.argv:
    service.get_agent_protocol = lambda: (Agent, {})
if "--speech" in sys.argv:
    sys.path.append(os.path.join(os.path.dirname(__file__), "speech"))
else:
    service.get_binary_protocol = lambda: (Files, {})
service.HiveMindService().run()
