/** The ephemeral key in recordings: that of a handshake that failed, if that was asked for, and no other. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { recordClientSession } from '../../src/recording/recording.ts';
import { clientOptions, newHub, textOf, transportOf } from '../world/pair.ts';
import { wipedIn } from '../world/wiped.ts';
import { connect, EPHEMERAL, hex, linesWith, OTHER_PSK, parse, ready, record } from './record.ts';

test('records the ephemeral key of a failed handshake only if asked to', () => {
  const other = { psk: OTHER_PSK };
  const silent = record({}, other);
  connect(silent);
  assert.equal(linesWith(silent.clientLines, 'ephemeralKey'), []);
  const asked = record({}, other, { ephemeralKey: true });
  connect(asked);
  assert.equal(parse(asked.clientLines).at(-1), { ephemeralKey: hex(EPHEMERAL) });
  asked.client.closed(1008);
  assert.is(linesWith(asked.clientLines, 'ephemeralKey').length, 1);
});

test('records the ephemeral key of a hub, and of a session that the other side ended', () => {
  const randomBytes = () => EPHEMERAL.slice();
  const { client, hub, clientLines, hubLines } = ready({}, { randomBytes }, { ephemeralKey: true });
  client.closed(1008);
  assert.equal(parse(clientLines).at(-1), { ephemeralKey: hex(EPHEMERAL) });
  const failed = record({}, { randomBytes, psk: OTHER_PSK }, { ephemeralKey: true });
  connect(failed);
  failed.hub.closed();
  assert.equal(parse(failed.hubLines).at(-1), { ephemeralKey: hex(EPHEMERAL) });
  hub.closed();
  assert.equal(linesWith(hubLines, 'ephemeralKey'), []); // the HELLO of the client has opened
});

test('does not record cleartext as a transport message that failed to open', () => {
  const { client, clientLines } = record({}, {}, { ephemeralKey: true });
  client.receive(Uint8Array.of(0xff));
  assert.is(client.state, 'failed');
  assert.equal(parse(clientLines).at(-1), { ephemeralKey: hex(EPHEMERAL) });
});

test('records a transport message that does not open together with the ephemeral key', () => {
  const { client, clientLines } = ready({}, {}, { ephemeralKey: true });
  client.receive(new Uint8Array(17));
  assert.equal(parse(clientLines).at(-1), { ephemeralKey: hex(EPHEMERAL), sealed: '00'.repeat(17) });
});

test('records the ephemeral key even if an envelope was repeated on the encrypted session', () => {
  const { client, clientLines } = ready({}, {}, { ephemeralKey: true });
  const message2 = linesWith(clientLines, 'text').filter(({ call }) => call === 'receive')[2]!;
  assert.equal(client.receive(Buffer.from(message2.text as string)), []);
  client.receive(new Uint8Array(17));
  assert.equal(parse(clientLines).at(-1), { ephemeralKey: hex(EPHEMERAL), sealed: '00'.repeat(17) });
});

/** What arrives over MQTT, where cleartext is bytes too. */
const published = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

test('records a greeting that arrives as bytes on the encrypted session as cleartext', () => {
  const recorded = ready({}, {}, { ephemeralKey: true });
  const offer = textOf(record().hub.start().at(-1)!);
  recorded.client.receive(published(offer));
  const received = linesWith(recorded.clientLines, 'call').filter(({ call }) => call === 'receive');
  assert.equal(received.at(-1), { call: 'receive', state: 'ready', text: offer });
  const [end] = linesWith(recorded.clientLines, 'ephemeralKey');
  assert.equal(end, { ephemeralKey: hex(EPHEMERAL) });
});

test('records other cleartext in bytes on the encrypted session by its length', () => {
  const { client, clientLines } = ready();
  const data = published('{"msg_type":"bus","payload":{}}');
  client.receive(data);
  assert.equal(linesWith(clientLines, 'call').at(-1), {
    call: 'receive',
    state: 'ready',
    isText: false,
    length: data.length,
  });
});

test('wipes its copy of the ephemeral key once a message of the peer has arrived', () => {
  const { client, hub } = ready({}, {}, { ephemeralKey: true });
  const [message] = hub.sendJson(1);
  assert.ok(wipedIn(() => client.receive(message!)).includes(hex(EPHEMERAL)));
});

for (const plaintext of [Uint8Array.of(9), new Uint8Array(0), Uint8Array.of(4)])
  test(`records no ephemeral key if the first transport message opens and is ${plaintext[0]}`, () => {
    const lines: string[] = [];
    const client = recordClientSession(clientOptions(), {
      write: (line) => lines.push(line),
      ephemeralKey: true,
    });
    const hub = newHub();
    connect({ client, hub, clientLines: [], hubLines: [] });
    client.receive(transportOf(hub).encrypt(plaintext));
    assert.is(client.state, 'failed');
    assert.equal(linesWith(lines, 'ephemeralKey'), []);
  });

test.run();
