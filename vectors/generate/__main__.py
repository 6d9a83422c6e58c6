"""Writes the vectors that other implementations and publications fix: nothing here comes from hub-protocol itself.

    npm run vectors          writes them, with the packages in a virtual environment
    npm run vectors:check    compares them byte for byte with those that are there, and tests how they are numbered
"""

import sys
import unittest

import argon2id
import canonical_json
import envelopes
import framing
import handshake
import identity
import mqtt_topics
import negotiation
import prologue
import requests
import session
import transport

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
    identity,
    mqtt_topics,
    requests,
]:
    module.build()
