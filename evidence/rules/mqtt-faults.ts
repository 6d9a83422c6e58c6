/** Faults that only the judge’s broker shows: planted in this library and in the client and the hub of mqtt-peers.ts. */
import { type Fault, fault } from './fault.ts';

const PEERS = 'test/judge/mqtt-peers.ts';
const ANNOUNCES = '        say(offline);\n        take(session.start());';
const GOES = 'say(offline);\n          broker.end();\n        }\n      }\n      clearTimeout';
const PRESENCE = 'src/mqtt-topics/presence.ts';
const MQTT_PEERS = 'test/judge/mqtt-peers.ts';

export const MQTT_CLIENT_FAULTS: readonly Fault[] = [
  fault('mqtt-client-says-online-early', 'first-contact presence', [
    PEERS,
    ANNOUNCES,
    '        say(online);\n        take(session.start());',
  ]),
  fault('mqtt-client-says-no-offline-first', 'presence', [
    PEERS,
    ANNOUNCES,
    '        take(session.start());',
  ]),
  fault('mqtt-client-leaves-without-offline', 'goodbye', [PEERS, GOES, GOES.replace('say(offline);', '')]),
  fault('mqtt-presence-not-retained', 'will presence', [
    PRESENCE,
    'retain: true,\n    });',
    'retain: false as true,\n    });',
  ]),
  fault('mqtt-client-speaks-before-it-has-subscribed', 'first-contact', [
    PEERS,
    '      broker.subscribe(topics.subscribe,',
    '      take(session.start());\n      broker.subscribe(topics.subscribe,',
  ]),
  fault('mqtt-client-takes-retained-messages', 'retained', [
    PEERS,
    'if (!retain) take(session.receive(data));',
    'take(session.receive(data));',
  ]),
  fault('mqtt-client-stays-with-a-hub-that-restarted', 'first-contact hub-restarted', [
    PEERS,
    'if (!retain) take(session.receive(data));',
    "if (!retain && (session.state !== 'ready' || data[0] !== 0x7b)) take(session.receive(data));",
  ]),
  fault('mqtt-client-repeats-kk-after-silence', 'first-contact silence after-silence', [
    PEERS,
    "onlyXx = pattern === 'KKpsk0';",
    '',
  ]),
  fault('mqtt-client-keeps-a-wrong-psk', 'first-contact forgotten-psk', [
    PEERS,
    "if (event.type === 'psk-suspect') psks.delete(event.nodeId);",
    '',
  ]),
  fault('mqtt-client-has-a-new-id-each-time', 'first-contact clean-session', [
    MQTT_PEERS,
    "clientId: 'test-client',",
    'clientId: String(Math.random()),',
  ]),
  fault('mqtt-client-echoes-the-start', 'first-contact messages', [
    MQTT_PEERS,
    'session.sendBinary(event.bytes)',
    'session.sendBinary(event.bytes.slice(0, 65000))',
  ]),
];

export const MQTT_HUB_FAULTS: readonly Fault[] = [
  fault('mqtt-hub-ignores-offline', 'first-contact offline', [
    PEERS,
    "if (data.toString() === 'offline') sessions.delete(client);",
    '',
  ]),
  fault('mqtt-hub-retains-its-messages', 'first-contact', [
    PEERS,
    '/out`, toPayload(data), { qos: 1 })',
    '/out`, toPayload(data), { qos: 1, retain: true })',
  ]),
  fault('mqtt-hub-takes-retained-messages', 'first-contact retained', [
    PEERS,
    'if (retain || (client !== accessKey && !admitsAll)) return;',
    'if (client !== accessKey && !admitsAll) return;',
  ]),
  fault('mqtt-hub-greets-everybody', 'first-contact unknown-access-key', [
    PEERS,
    'if (retain || (client !== accessKey && !admitsAll)) return;',
    'if (retain) return;',
  ]),
  fault('mqtt-hub-goes-on-after-a-breach', 'first-contact unknown-marker', [
    'src/wire/frame-joiner.ts',
    'if (marker > MARKER_FINAL) throw',
    'if (marker > MARKER_FINAL) return undefined;\n    if (false) throw',
  ]),
  fault('mqtt-hub-has-a-new-static-key-each-time', 'first-contact still-there', [
    PEERS,
    'nodeId: NODE_ID,\n      staticKey,',
    'nodeId: NODE_ID,\n      staticKey: randomBytes(32),',
  ]),
];
