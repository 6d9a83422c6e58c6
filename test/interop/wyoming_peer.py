"""Home Assistant's library of the Wyoming protocol, as a peer: asks a server for all that it offers, and reports what came back."""

import asyncio
import json
import sys
from array import array

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeVoice


async def exchange(client, last, *events):
    """Writes events, and reads those that come back, until one of some types."""
    for event in events:
        await client.write_event(event.event())
    read = []
    while not read or read[-1].type not in last:
        read.append(await client.read_event())
        assert read[-1] is not None, "the server has gone"
    return read


async def main(port, question, long_text):
    report = {}
    async with AsyncTcpClient("127.0.0.1", port, read_timeout=60) as client:
        [event] = await exchange(client, ["info"], Describe())
        info = Info.from_event(event)
        report["offers"] = [[part.name for part in info.asr], [part.name for part in info.handle], [part.name for part in info.tts]]
        [event] = await exchange(client, ["pong"], Ping(text="here"))
        report["pong"] = Pong.from_event(event).text
        events = await exchange(client, ["handled", "not-handled", "error"], Transcript(text=question, language="en-us"))
        report["handled"] = [[event.type, event.data.get("text")] for event in events]
        format_ = {"rate": 16000, "width": 2, "channels": 1}
        speech = array("H", [ord(letter) for letter in "buy milk" for _ in range(400)]).tobytes()
        chunks = [AudioChunk(audio=speech[at : at + 2048], **format_) for at in range(0, len(speech), 2048)]
        events = await exchange(
            client, ["transcript", "error"], Transcribe(language="de-de"), AudioStart(**format_), *chunks, AudioStop()
        )
        report["transcript"] = Transcript.from_event(events[-1]).text
        events = await exchange(
            client, ["audio-stop", "error"], Synthesize(text=long_text, voice=SynthesizeVoice(language="en-us"))
        )
        report["rate"] = AudioStart.from_event(events[0]).rate
        samples = b"".join(AudioChunk.from_event(event).audio for event in events if event.type == "audio-chunk")
        report["spoken"] = "".join(map(chr, array("H", samples)[::400]))
        [event] = await exchange(client, ["error"], AudioStart(rate=44100, width=2, channels=2))
        report["error"] = Error.from_event(event).text
        await client.write_event(Transcript(text="this is never answered").event())
    print(json.dumps(report))


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
