"""The form of the files, and what the modules that fill them share."""

import json
import platform
import random
import sys
from importlib.metadata import version
from pathlib import Path

DIRECTORY = Path(__file__).parent.parent
CHACHAPOLY = "25519_ChaChaPoly_SHA256"
AESGCM = "25519_AESGCM_SHA256"
SUITES = [CHACHAPOLY, AESGCM]
PATTERNS = ["XXpsk2", "KKpsk0"]
PYTHON_JSON = f"Python {platform.python_version().rsplit('.', 1)[0]} json"
SPECIFICATION = "the specification, by hand"


def package(name):
    return f"{name} {version(name)}"


def randomness(name):
    """A source of reproducible bytes for one file, so that a change in one leaves the others alone."""
    return random.Random(f"hub-protocol {name}")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def valid(comment, flags, **fields):
    return {"comment": comment, "flags": flags, **fields, "result": "valid"}


def invalid(comment, flags, error, **fields):
    return {"comment": comment, "flags": flags, **fields, "result": "invalid", "error": error}


def group(type, source, tests, **fields):
    return {"type": type, "source": source, **fields, "tests": tests}


def write(name, description, notes, groups):
    """Numbers the tests and writes a file, or compares it where --check is given."""
    flags = {flag for group in groups for test in group["tests"] for flag in test["flags"]}
    assert flags == set(notes), f"{name}: flags without a note, or notes without a flag: {flags ^ set(notes)}"
    count = 0
    for group in groups:
        for index, test in enumerate(group["tests"]):
            count += 1
            group["tests"][index] = {"tcId": count, **test}
    document = {
        "description": description,
        "generator": f"vectors/generate/{name.replace('-', '_')}.py",
        "schema": f"schemas/{name}.schema.json",
        "notes": dict(sorted(notes.items())),
        "numberOfTests": count,
        "testGroups": groups,
    }
    path = DIRECTORY / f"{name}.json"
    text = json.dumps(document, indent=1, ensure_ascii=True) + "\n"
    if "--check" not in sys.argv:
        path.write_text(text, encoding="ascii")
    elif not path.exists() or path.read_text(encoding="ascii") != text:
        sys.exit(f"{path.name} is not what this generator writes: run it, and look at the difference")
    print(f"{path.name}: {count} tests")
