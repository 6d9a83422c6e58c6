"""A skill for OVOS that answers in the ways of a skill: with pauses, waiting for its own voice, late, with a question, not at all.
`ovos.ts` writes the sentences that it understands, and its dialogs, next to a copy of this file.
"""

import time

from ovos_utils import classproperty
from ovos_utils.process_utils import RuntimeRequirements
from ovos_workshop.decorators import fallback_handler, intent_handler
from ovos_workshop.skills.fallback import FallbackSkill

STORY = "Once upon a time.", "There was a hub.", "The end."


class Storyteller(FallbackSkill):
    counting = False

    @classproperty
    def runtime_requirements(self):  # OVOS 2 waits for the internet otherwise
        return RuntimeRequirements(network_before_load=False, internet_before_load=False)

    @intent_handler("story.intent")
    def tell(self, message):
        for sentence in STORY:
            self.speak(sentence)
            time.sleep(0.6)

    @intent_handler("aloud.intent")
    def tell_aloud(self, message):
        for sentence in STORY:
            self.speak(sentence, wait=True)

    @intent_handler("think.intent")
    def think(self, message):
        time.sleep(14)
        self.speak("Forty-two.")

    @intent_handler("muse.intent")
    def muse(self, message):
        self.speak("Let me think.")
        time.sleep(14)
        self.speak("Forty-two.")

    @intent_handler("meet.intent")
    def meet(self, message):
        self.speak_dialog("greeting", {"name": self.get_response("question", num_retries=0)})

    @intent_handler("invite.intent")
    def invite(self, message):
        self.speak("Do you want to hear a story?", expect_response=True)

    @intent_handler("greet.intent")
    def greet(self, message):
        self.speak_dialog("greeting", {"name": "world"})

    @intent_handler("nod.intent")
    def nod(self, message):
        pass

    @intent_handler("stumble.intent")
    def stumble(self, message):
        raise ValueError("on purpose")

    @intent_handler("count.intent")
    def count(self, message):
        self.counting = True
        for number in range(1, 31):
            if not self.counting:
                return
            self.speak(str(number))
            time.sleep(0.5)

    def can_stop(self, message):
        return self.counting

    def stop_session(self, session):
        counted, self.counting = self.counting, False
        return counted

    def can_answer(self, message):
        return message.data["utterances"][0].startswith("wonder")

    @fallback_handler(priority=50)
    def wonder(self, message):
        if not message.data["utterance"].startswith("wonder"):
            return False
        time.sleep(14)
        self.speak("Who knows?")
        return True
