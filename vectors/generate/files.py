"""The form of the vector files, and what the generators share."""

import json
import platform
import random
import re
import sys
from importlib.metadata import version
from pathlib import Path

from ids import number

DIRECTORY = Path(__file__).parent.parent
LAST_IDS = Path(__file__).parent / "last-ids.json"  # the highest tcId ever used in each file
CHACHAPOLY = "25519_ChaChaPoly_SHA256"
AESGCM = "25519_AESGCM_SHA256"
SUITES = [CHACHAPOLY, AESGCM]
PATTERNS = ["XXpsk2", "KKpsk0"]
PYTHON_JSON = f"Python {platform.python_version().rsplit('.', 1)[0]} json"
SPECIFICATION = "the specification, by hand"
CHOICE = "This is a choice of this library: the protocol leaves it open."


def package(name):
    return f"{name} {version(name)}"


def randomness(name):
    """A reproducible source of bytes for one file, so that a change in one file leaves the others unchanged."""
    return random.Random(f"hub-protocol {name}")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def valid(comment, flags, **fields):
    return {"comment": comment, "flags": flags, **fields, "result": "valid"}


def invalid(comment, flags, error, **fields):
    return {"comment": comment, "flags": flags, **fields, "result": "invalid", "error": error}


def has_number_of_several_forms(text):
    """Whether a JSON text has a number that JSON libraries write differently."""
    numbers = []
    json.loads(text, parse_int=numbers.append, parse_float=numbers.append)
    return not all(is_plain(token) for token in numbers)


def is_plain(token):
    """An integer within 2^53 - 1, or a fraction of up to 15 digits without an exponent and without a zero at its end."""
    if re.fullmatch("-?[0-9]+", token):
        return token != "-0" and abs(int(token)) < 2**53
    return re.fullmatch(r"-?[0-9]+\.[0-9]*[1-9]", token) and len(token) <= 15 and abs(float(token)) >= 0.001


def group(type, source, tests, **fields):
    return {"type": type, "source": source, **fields, "tests": tests}


def write(name, description, notes, groups, choices=(), is_choice=lambda test: False):
    """Writes a file, whose tests keep their ids. With --check, compares instead.

    `choices` are the flags and the types of groups whose outcome the protocol leaves open, and `is_choice` finds
    further tests of this kind: their result is `acceptable`, and their values are what this library chose.
    """
    flags = {flag for group in groups for test in group["tests"] for flag in test["flags"]}
    assert flags == set(notes), f"{name}: flags without a note, or notes without a flag: {flags ^ set(notes)}"
    assert set(choices) <= flags | {group["type"] for group in groups}, f"{name}: a choice that is no flag and no type"
    for group in groups:
        for test in group["tests"]:
            if is_choice(test) or {group["type"], *test["flags"]} & set(choices):
                test["result"] = "acceptable"
    notes = {flag: f"{note} {CHOICE}" if flag in choices else note for flag, note in notes.items()}
    path = DIRECTORY / f"{name}.json"
    previous = json.loads(path.read_text(encoding="ascii"))["testGroups"] if path.exists() else []
    last_ids = json.loads(LAST_IDS.read_text(encoding="ascii"))
    ids, last_ids[name] = number(groups, previous, last_ids.get(name, 0))
    next_id = iter(ids)
    for group in groups:
        group["tests"] = [{"tcId": next(next_id), **test} for test in group["tests"]]
    document = {
        "description": description,
        "generator": f"vectors/generate/{name.replace('-', '_')}.py",
        "schema": f"schemas/{name}.schema.json",
        "notes": dict(sorted(notes.items())),
        "numberOfTests": len(ids),
        "testGroups": groups,
    }
    put(path, document, indent=1)
    put(LAST_IDS, last_ids, indent=2, sort_keys=True)
    print(f"{path.name}: {len(ids)} tests")


def put(path, document, **form):
    put_text(path, json.dumps(document, **form, ensure_ascii=True) + "\n")


def put_text(path, text):
    if "--check" not in sys.argv:
        path.write_text(text, encoding="ascii")
    elif not path.exists() or path.read_text(encoding="ascii") != text:
        sys.exit(f"{path.name} is not what `vectors/generate/run` writes: run it, and look at the difference")
