"""Tests of replies: what events say and display, and events that cannot be read."""

import json

from files import SPECIFICATION, group
from reply import HANDLED, OWN, UNMATCHED, envelope, event, ignores, replies, speak

CLIENT = "thalovant-python-sdk tests/test_client.py at 55c41766266c453d22a8d26b9de376dfd27a4823"


def speech():
    def says(comment, flag, *events, **expected):
        return replies(comment, flag, [*events, HANDLED], **{"raw": len(events) - 1, **expected})

    def marked(comment, text, speech):
        return says(comment, "Markup", speak(text), text=text, speech=speech)

    second = "ovos.utterance.speak"
    return [
        says("in two parts", "Speech", speak("One."), speak("Two."), text="One. Two."),
        says("under the newer name", "Speech", speak("One.", type=second), text="One."),
        says("under both names", "Speech", speak("One."), speak("One.", type=second), text="One.", raw=0),
        says("twice", "Speech", speak("One."), speak("One."), text="One."),
        says("again later", "Speech", speak("No."), speak("Yes."), speak("No."), text="No. Yes. No."),
        says("white space", "Speech", speak("  It   is\tnoon. \n"), text="It is noon."),
        says("white space alone", "Speech", speak("One."), speak(" \n"), text="One.", raw=0),
        says("a no-break space", "Speech", speak("\u00a0at 12\u00a0 h"), text="at 12 h"),
        says("utterance before text", "Speech", speak("One.", text="Two."), text="One."),
        says("text for an utterance of blanks", "Speech", speak(" ", text="Two."), text="Two."),
        says("utterances as a text", "Speech", event("speak", {"utterances": "One."}), text="One."),
        says("utterances that are no texts", "Speech", speak("One."), event("speak", {"utterances": [1, "x"]}),
             text="One.", raw=0),
        says("no utterances", "Speech", speak("One."), event("speak", {"utterances": []}), text="One.", raw=0),
        says("that asks the person something", "Speech", speak("Which?", expect_response=True), text="Which?", asks=True),
        says("that asks, and goes on", "Speech", speak("Which?", expect_response=True), speak("One."), text="Which? One."),
        says("that asks after it was said", "Speech", speak("Which?"), speak("Which?", expect_response=True), text="Which?",
             asks=True),
        says("that does not ask", "Speech", speak("Which?", expect_response="true"), text="Which?"),
        marked("the whole in a tag", "<speak>Hello</speak>", "Hello"),
        marked("emphasis inside of a word", "<emphasis>un</emphasis>likely", "unlikely"),
        marked("a pause between words", 'Wait<break time="1s"/>for it', "Wait for it"),
        marked("paragraphs and sentences", "<p><s>One.</s><s>Two.</s></p><p>Three.</p>", "One. Two. Three."),
        marked("upper case", "<SPEAK>Hello<BREAK/>you</SPEAK>", "Hello you"),
        marked("a name that starts alike", "<prosody rate='slow'>Hel</prosody>lo", "Hello"),
        marked("> in an attribute", '<mark name="a>b"/>Hello', "Hello"),
        marked("> in an attribute in apostrophes", "<mark name='a>b'/>Hello", "Hello"),
        marked("the other quotation mark in an attribute", "<sub alias=\"it's\">it</sub> is", "it is"),
        marked("a comment", "Hello <!-- it's me -->you", "Hello you"),
        marked("a declaration", "<?xml version='1.0'?><speak>Hello</speak>", "Hello"),
        marked("less and greater", "3 < 4 and 5 > 2", "3 < 4 and 5 > 2"),
        marked("a heart", "I <3 you > all", "I <3 you > all"),
        marked("a tag that does not end", "Hello <break", "Hello <break"),
        marked("a tag that starts anew", "a <b c <d>e</d>", "a <b c e"),
        marked("a quotation that does not end", 'a <b c="d>e', 'a <b c="d>e'),
        marked("< at the end", "Hello <", "Hello <"),
        marked("the entities of XML", "&lt;Tom &amp; Jerry&apos;s &quot;house&quot;&gt;", "<Tom & Jerry's \"house\">"),
        marked("once", "&amp;lt;b&amp;gt;", "&lt;b&gt;"),
        marked("a no-break space", "12&nbsp;h", "12 h"),
        marked("by number", "caf&#233; caf&#xE9; &#128273;&#x1F511;", "caf\u00e9 caf\u00e9 \U0001f511\U0001f511"),
        marked("a line by number", "One.&#10;&#x9;Two.", "One. Two."),
        marked("no character", "&#xD800; &#1114112; &#0;x", "&#xD800; &#1114112; x"),
        marked("the edges of what is a character", "&#xD7FF;&#xE000;&#xFFFF;&#x10000;&#x10FFFF;",
               "\ud7ff\ue000\uffff\U00010000\U0010ffff"),
        marked("beyond these edges", "&#xD800;&#xDFFF;&#x110000;", "&#xD800;&#xDFFF;&#x110000;"),
        marked("no entity", "R&D; AT&T &; &#; &#x; &unknown; &constructor; &AMP;",
               "R&D; AT&T &; &#; &#x; &unknown; &constructor; &AMP;"),
        marked("nothing but a pause", "<break/>", ""),
        says("a part that is nothing but a pause", "Markup", speak("One."), speak("<break/>"), speak("Two."),
             text="One. <break/> Two.", speech="One. Two."),
    ]


IMAGE = "https://example.com/image.png"


def public_display():
    rich = {
        "table": '[{"name":"part","status":"ok"}]',
        "attachment": {"type": "image", "payload": {"src": IMAGE}},
        "quick_replies": [{"title": "Continue", "payload": "/continue"}],
    }
    return [
        replies("a table, an image and a choice", "DisplayItem",
                [speak("<speak>Hello</speak>", rich_media_data=json.dumps(rich)), HANDLED],
                text="<speak>Hello</speak>", speech="Hello", raw=0, items=[
                    {"kind": "table", "data": [{"name": "part", "status": "ok"}]},
                    {"kind": "image", "url": IMAGE, "data": rich["attachment"]},
                    {"kind": "choices", "choices": [
                        {"title": "Continue", "payload": "/continue", "data": rich["quick_replies"][0]}]},
                ]),
    ]


def display():
    def shows(comment, data, *items, **options):
        options = {"text": "Look.", "raw": 0, **options}
        return replies(comment, "DisplayItem", [speak("Look.", **data), HANDLED], items=list(items), **options)

    def image(data, url=IMAGE, **title):
        return {"kind": "image", "url": url, **title, "data": data}

    def attached(data, **fields):
        return {"kind": "attachment", **fields, "data": data}

    def choices(*triples):
        return {"kind": "choices", "choices": [dict(zip(["title", "payload", "data"], triple)) for triple in triples]}

    rows, yes, pdf = [["a", 1], ["b", 2]], ("Yes", "Yes", "Yes"), {"type": "file", "url": "https://example.com/a.pdf"}
    table, now = {"kind": "table", "data": rows}, {"label": "Now", "value": "/now"}
    names = ["rich_media_data", "rich_media", "display"]
    tests = [shows(f"in {name}", {name: {"table": rows}}, table) for name in names]
    tests += [shows(f"in {name}, as a text", {name: json.dumps({"table": rows})}, table) for name in names]
    return tests + [
        shows("in the data", {"table": rows}, table),
        shows("in the data, beside what is not read", {"display": "on", "rich_media": {}, "table": rows}, table),
        shows("in the first place alone", {"rich_media": {"table": rows}, "table": [], "images": [IMAGE]}, table),
        shows("a table that is an object", {"table": {"rows": rows}}, {"kind": "table", "data": {"rows": rows}}),
        shows("what is no table", {"rich_media": {"table": "a | b", "image": IMAGE}}, image(IMAGE)),
        shows("a table that is null", {"rich_media": {"table": None, "image": IMAGE}}, image(IMAGE)),
        shows("choices as texts", {"quick_replies": ["Yes", "No"]}, choices(yes, ("No", "No", "No"))),
        shows("one choice", {"buttons": "Yes"}, choices(yes)),
        shows("choices under other names", {"buttons": [now, {"text": "Later"}, {"value": 3}]},
              choices(("Now", "/now", now), ("Later", "Later", {"text": "Later"}), ("3", "3", {"value": 3}))),
        shows("null under the first name", {"quick_replies": None, "buttons": "Yes"}, choices(yes)),
        shows("null as a text", {"images": "null", "buttons": "Yes"}, choices(yes)),
        shows("what is no choice", {"buttons": [None, [], {}, " ", {"title": ""}, True]}),
        shows("images", {"images": [IMAGE, {"src": IMAGE, "title": "Plan"}, {"url": IMAGE}]}, image(IMAGE),
              image({"src": IMAGE, "title": "Plan"}, title="Plan"), image({"url": IMAGE})),
        shows("images as a text", {"image": json.dumps([IMAGE])}, image(IMAGE)),
        shows("what is no image", {"images": [{}, None, "", 0.5, {"src": None}]}, image(0.5, "0.5")),
        shows("attachments", {"attachments": [pdf, {"title": "Note", "payload": '{"url":"a.txt"}'}]},
              attached(pdf, url=pdf["url"]),
              attached({"title": "Note", "payload": '{"url":"a.txt"}'}, url="a.txt", title="Note")),
        shows("an attachment without an address", {"attachment": {"type": "image", "data": "00ff"}},
              attached({"type": "image", "data": "00ff"})),
        shows("attachments by src", {"attachments": [{"src": "a.pdf"}, {"url": "b.pdf", "src": "c.pdf"}]},
              attached({"src": "a.pdf"}, url="a.pdf"),
              attached({"url": "b.pdf", "src": "c.pdf"}, url="c.pdf")),
        shows("what is no attachment", {"attachments": ["a.pdf", None, 7]}),
        shows("unknown kinds", {"rich_media": {"hologram": {}, "__proto__": {"images": IMAGE}, "table": rows}}, table),
        shows("unknown kinds alone", {"rich_media": {"hologram": {"src": IMAGE}}}),
        replies("without a word", "DisplayItem", [event(UNMATCHED), event("speak", {"table": rows}), HANDLED], raw=1,
                items=[table]),
        replies("under both names", "DisplayItem",
                [speak("Look.", table=rows), speak("Look.", type="ovos.utterance.speak", table=rows), HANDLED],
                text="Look.", raw=0, items=[table]),
        replies("with the same words", "DisplayItem",
                [speak("Look.", table=rows), speak("Look.", image=IMAGE), HANDLED], text="Look.", raw=1,
                items=[table, image(IMAGE)]),
    ]


def malformed():
    good = envelope(speak("Two."))
    spoken = {"utterance": "Two."}
    return [
        *[ignores(comment, "Malformed", text) for comment, text in [
            ("nothing", ""),
            ("no JSON", "{'msg_type': 'bus'}"),
            ("cut off", good[:-1]),
            ("a number that JSON does not have", good.replace('"metadata":{}', '"metadata":NaN')),
            ("a key twice", good.replace('"metadata":{}', '"msg_type":"bus"')),
            ("null", "null"),
            ("a list", f"[{good}]"),
            ("a text", json.dumps(good)),
            ("no msg_type", good.replace('"msg_type"', '"type"')),
            ("a msg_type that is a list", good.replace('"bus"', '["bus"]')),
            ("no payload", '{"msg_type":"bus"}'),
            ("a payload that is a text", json.dumps({"msg_type": "bus", "payload": json.dumps(speak("Two."))})),
            ("a payload that is a list", json.dumps({"msg_type": "bus", "payload": [speak("Two.")]})),
        ]],
        ignores("no type", "Malformed", {"data": spoken, "context": OWN}),
        ignores("a type that is a number", "Malformed", {"type": 7, "data": spoken, "context": OWN}),
        ignores("a type that objects have", "Malformed", {"type": "constructor", "data": spoken, "context": OWN}),
        ignores("a context that is a list", "Malformed", {"type": "speak", "data": spoken, "context": [OWN]}),
        ignores("data that is a list", "Malformed", {"type": "speak", "data": [spoken], "context": OWN}),
        ignores("no data", "Malformed", {"type": "speak", "context": OWN}),
        ignores("a session that is a text", "Malformed", speak("Two.", {"session": "sess-1"})),
    ]


def groups():
    return [
        group("Reply", [CLIENT], public_display()),
        group("Reply", [SPECIFICATION], speech() + display() + malformed()),
    ]
