"""Plugins that stand in for speech recognition and speech synthesis. Their speech has a sample of 25 ms for each letter.

So a sample that is lost, added or damaged on the way shows in the text.
"""

import wave
from array import array

from ovos_plugin_manager.templates.hotwords import HotWordEngine
from ovos_plugin_manager.templates.stt import STT
from ovos_plugin_manager.templates.tts import TTS
from ovos_plugin_manager.templates.vad import VADEngine

RATE = 16000
HELD = 400


class LetterSTT(STT):
    def execute(self, audio, language=None):
        samples = array("H", audio.frame_data)
        text = "".join(map(chr, samples[::HELD])).strip("\0")
        if not text.isprintable():  # of a microphone
            text = f"{len(samples)} samples"
        return text if language is None else f"{text} ({language})"

    @property
    def available_languages(self):
        return {"en-us"}


class LetterTTS(TTS):
    def get_tts(self, sentence, wav_file, lang=None, voice=None):
        with wave.open(str(wav_file), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(array("H", [ord(letter) for letter in sentence for _ in range(HELD)]).tobytes())
        return wav_file, None

    @property
    def available_languages(self):
        return {"en-us"}


class ZeroVAD(VADEngine):
    def is_silence(self, chunk):
        return not any(chunk)


class AnySoundWakeWord(HotWordEngine):
    heard = False

    def update(self, chunk):
        self.heard = any(chunk)

    def found_wake_word(self, *_):
        return self.heard
