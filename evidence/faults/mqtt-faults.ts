/** Faults that only the judge's broker shows: planted in this library and in the client and the hub of mqtt-peers.ts. */
import { type Fault, fault } from './fault.ts';
import { PORTER_MQTT_CLIENT_FAULTS } from './porter-live-faults.ts';

const PEERS = 'test/judge/mqtt-peers.ts';
const PRESENCE = 'src/mqtt-topics/presence.ts';
const ANNOUNCES = '        say(offline);\n        take(session.start());';
const GOES = 'say(offline);\n          broker.end();\n        }\n      }\n      clearTimeout';

export const MQTT_CLIENT_FAULTS: readonly Fault[] = [
  fault(
    'mqtt-client-says-online-early',
    'first-contact presence',
    'presence: the client says online before',
    [PEERS, ANNOUNCES, '        say(online);\n        take(session.start());'],
  ),
  fault(
    'mqtt-client-says-no-offline-first',
    'presence',
    'presence: the client does not say offline before HELLO',
    [PEERS, ANNOUNCES, '        take(session.start());'],
  ),
  fault('mqtt-client-is-never-online', 'presence', 'presence: the client does not say online when', [
    PEERS,
    "if (event.type === 'ready') say(online);",
    '',
  ]),
  fault(
    'mqtt-client-leaves-without-offline',
    'goodbye',
    'presence: the client disconnects without saying offline',
    [PEERS, GOES, GOES.replace('say(offline);', '')],
  ),
  fault(
    'mqtt-presence-not-retained',
    'will presence',
    [
      'will: it is offline on the status topic, with QoS 1, retained',
      'presence: offline is published with QoS 1, retained',
    ],
    [PRESENCE, 'retain: true,\n    });', 'retain: false as true,\n    });'],
  ),
  fault(
    'mqtt-client-speaks-before-it-has-subscribed',
    'first-contact',
    'subscription: the client speaks before',
    [
      PEERS,
      '      broker.subscribe(topics.subscribe,',
      '      take(session.start());\n      broker.subscribe(topics.subscribe,',
    ],
  ),
  fault(
    'mqtt-client-takes-retained-messages',
    'retained',
    [],
    [PEERS, 'if (!retain) take(session.receive(data));', 'take(session.receive(data));'],
  ),
  fault(
    'mqtt-client-publishes-elsewhere',
    'first-contact',
    'topic: the client publishes on a topic that is not its own',
    ['src/mqtt-topics/topics.ts', '/in`, subscribe', '/c2s`, subscribe'],
  ),
  fault(
    'mqtt-client-stays-with-a-hub-that-restarted',
    'first-contact hub-restarted',
    'the connection goes on where it must end: A hub that has lost the session greets in the clear: the client ends the session and comes back.',
    [
      PEERS,
      'if (!retain) take(session.receive(data));',
      "if (!retain && (session.state !== 'ready' || data[0] !== 0x7b)) take(session.receive(data));",
    ],
  ),
  fault(
    'mqtt-client-repeats-kk-after-silence',
    'first-contact silence after-silence',
    'silence: after a KKpsk0',
    [PEERS, "onlyXx = pattern === 'KKpsk0';", ''],
  ),
  fault(
    'mqtt-client-dials-at-once',
    'first-contact back-off',
    'back-off: the client dials again immediately',
    [PEERS, 'setTimeout(dial, wait);', 'setTimeout(dial, wait & 0);'],
  ),
  fault('mqtt-client-keeps-a-wrong-psk', 'first-contact forgotten-psk', 'psk: the client keeps a PSK', [
    PEERS,
    "if (event.type === 'psk-suspect') psks.delete(event.nodeId);",
    '',
  ]),
  fault('mqtt-client-has-another-password', 'first-contact', 'password: the client closes after message 2', [
    'test/judge/peers.ts',
    'hexToBytes(DERIVED)!',
    'randomBytes(32)',
  ]),
  ...PORTER_MQTT_CLIENT_FAULTS,
];

export const MQTT_HUB_FAULTS: readonly Fault[] = [
  fault(
    'mqtt-hub-ignores-offline',
    'first-contact offline',
    [],
    [PEERS, "if (data.toString() === 'offline') sessions.delete(client);", ''],
  ),
  fault('mqtt-hub-retains-its-messages', 'first-contact', 'retain: the hub publishes retained messages', [
    PEERS,
    '/out`, toPayload(data), { qos: 1 })',
    '/out`, toPayload(data), { qos: 1, retain: true })',
  ]),
  fault(
    'mqtt-hub-publishes-on-in',
    'first-contact',
    'topic: the hub publishes on a topic that only the client',
    [PEERS, '/out`, toPayload(data)', '/in`, toPayload(data)'],
  ),
  fault(
    'mqtt-hub-takes-retained-messages',
    'first-contact retained',
    [],
    [
      PEERS,
      'if (retain || (client !== accessKey && !admitsAll)) return;',
      'if (client !== accessKey && !admitsAll) return;',
    ],
  ),
  fault(
    'mqtt-hub-greets-everybody',
    'first-contact unknown-access-key',
    'the connection goes on where it must end: A client with an access key that was never issued meets silence.',
    [PEERS, 'if (retain || (client !== accessKey && !admitsAll)) return;', 'if (retain) return;'],
  ),
  fault(
    'mqtt-hub-goes-on-after-a-breach',
    'first-contact unknown-marker',
    'the connection goes on where it must end: Ends the session: a plaintext with an unknown marker.',
    [
      'src/wire/frame-joiner.ts',
      'if (marker > MARKER_FINAL) throw',
      'if (marker > MARKER_FINAL) return undefined;\n    if (false) throw',
    ],
  ),
  fault(
    'mqtt-hub-has-a-new-static-key-each-time',
    'first-contact still-there',
    'static key: the hub has another one',
    [PEERS, 'nodeId: NODE_ID,\n      staticKey,', 'nodeId: NODE_ID,\n      staticKey: randomBytes(32),'],
  ),
];
