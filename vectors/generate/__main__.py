"""Writes the test vectors. Other implementations and publications fix every value; none comes from hub-protocol.

    vectors/generate/run          writes the files; installs the packages into a virtual environment first
    vectors/generate/run --check  compares them byte for byte with the files, and tests how tests are numbered
"""

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "ports" / "python"))  # the one model of sessions, policies, links and schedules

import argon2id
import canonical_json
import envelopes
import framing
import handshake
import identity
import link
import mqtt_topics
import negotiation
import policy
import prologue
import requests
import session
import tables
import transport
import worked_example

if "--check" in sys.argv:
    tests = unittest.main("ids_test", argv=["ids_test"], exit=False)
    if not tests.result.wasSuccessful():
        sys.exit(1)

for module in [
    canonical_json,
    prologue,
    negotiation,
    argon2id,
    handshake,
    transport,
    framing,
    envelopes,
    session,
    tables,
    identity,
    mqtt_topics,
    requests,
    policy,
    link,
    worked_example,
]:
    module.build()
