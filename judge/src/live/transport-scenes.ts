/** Scenes after the handshake, the same for hubs and clients under test. */
import { MAX_CHUNK, MAX_MESSAGE, utf8ToBytes } from '../protocol.ts';
import type { Connection } from './connection.ts';
import { flip } from './envelopes.ts';
import { frame, type Talk } from './talk.ts';

export interface TransportScene {
  readonly name: string;
  readonly comment: string;
  /** Whether the protocol leaves the outcome open, and hub-protocol has chosen one. */
  readonly isChoice?: true;
  /** @throws Failure */
  play(talk: Talk, connection: Connection): Promise<void>;
}

const JSON_SIZES = [2, 1000, 65000, 65001, 130001];
const BINARY_SIZES = [0, 1, 64999, 65000, 65001, 130000, 130001, 200000];

/** Input that an implementation must accept. */
const ACCEPTED: readonly TransportScene[] = [
  {
    name: 'messages',
    comment: 'JSON and binary messages come back, with lengths around every limit.',
    async play(talk) {
      for (const size of JSON_SIZES) await talk.expectEcho('json', size);
      for (const size of BINARY_SIZES) await talk.expectEcho('binary', size);
    },
  },
  {
    name: 'verbatim',
    comment: 'A JSON message comes back as the text that it was, with its numbers, escapes and white space.',
    isChoice: true,
    play: (talk) => talk.expectText('{"n":12345678901234567890, "f":1.0,"t":"<\\u2028\u00e9"}'),
  },
  {
    name: 'small-chunks',
    comment: 'Chunks may have any length; even the first and the final one may be empty.',
    isChoice: true,
    async play(talk) {
      const chunks = [frame(0x03), frame(0x04, 'small '), frame(0x04), frame(0x04, 'chunks'), frame(0x05)];
      talk.sendFrames(chunks);
      await talk.expectBack('binary', utf8ToBytes('small chunks'));
    },
  },
  {
    name: 'repeats',
    comment: 'HELLO and an offer, repeated on an established session, change nothing.',
    isChoice: true,
    async play(talk) {
      talk.sendText(JSON.stringify({ msg_type: 'hello', payload: { node_id: 'another' } }));
      talk.sendText(JSON.stringify({ msg_type: 'shake', payload: { max_protocol_version: 3 } }));
      await talk.expectEcho('json', 100);
    },
  },
  {
    name: 'too-large',
    comment: 'A message of more than 32 MiB is dropped, and the session goes on.',
    isChoice: true,
    async play(talk) {
      const chunk = new Uint8Array(MAX_CHUNK + 1);
      chunk[0] = 0x03;
      talk.sendFrames([chunk]);
      chunk[0] = 0x04;
      for (let sent = MAX_CHUNK; sent <= MAX_MESSAGE; sent += MAX_CHUNK) talk.sendFrames([chunk]);
      talk.sendFrames([frame(0x05)]);
      await talk.expectEcho('binary', 10, true);
    },
  },
  {
    name: 'not-utf8',
    comment: 'A JSON message that is not UTF-8 is dropped, and the session goes on.',
    isChoice: true,
    async play(talk) {
      talk.sendFrames([Uint8Array.of(0x00, 0x22, 0xff, 0x22)]);
      await talk.expectEcho('json', 10);
    },
  },
];

const SAMPLE = '{"sample":true}';

interface Breach {
  readonly name: string;
  readonly comment: string;
  readonly isChoice?: true;
  commit(talk: Talk): unknown;
}

/** Input that ends a session. */
const BREACHES: readonly Breach[] = [
  {
    name: 'text',
    comment: 'A text message that repeats nothing of the handshake.',
    isChoice: true,
    commit: (talk) => talk.sendText('{"msg_type":"bus","payload":{}}'),
  },
  {
    name: 'flipped-bit',
    comment: 'A message with one bit changed.',
    commit: (talk) => talk.sendChanged(SAMPLE, (sealed) => [flip(sealed, sealed.length - 1)]),
  },
  {
    name: 'replay',
    comment: 'A message that is sent twice.',
    async commit(talk) {
      let copy = new Uint8Array(0);
      talk.sendChanged(SAMPLE, (sealed) => {
        copy = sealed.slice();
        return [sealed];
      });
      await talk.expectBack('json', utf8ToBytes(SAMPLE));
      talk.sendChanged(SAMPLE, () => [copy]);
    },
  },
  {
    name: 'truncated',
    comment: 'A message that is cut short.',
    commit: (talk) => talk.sendChanged(SAMPLE, (sealed) => [sealed.subarray(0, 10)]),
  },
  {
    name: 'empty',
    comment: 'A plaintext without a marker.',
    isChoice: true,
    commit: (talk) => talk.sendFrames([new Uint8Array(0)]),
  },
  {
    name: 'unknown-marker',
    comment: 'A plaintext with an unknown marker.',
    isChoice: true,
    commit: (talk) => talk.sendFrames([frame(0x06)]),
  },
  {
    name: 'middle-chunk',
    comment: 'A middle chunk while no message is open.',
    commit: (talk) => talk.sendFrames([frame(0x04, 'x')]),
  },
  {
    name: 'final-chunk',
    comment: 'A final chunk while no message is open.',
    commit: (talk) => talk.sendFrames([frame(0x05, 'x')]),
  },
  {
    name: 'interleaved',
    comment: 'A new message while another one is open.',
    commit: (talk) => talk.sendFrames([frame(0x03, 'x'), frame(0x01, 'y')]),
  },
];

/** After each breach comes a valid message, which must not be answered. */
export const TRANSPORT_SCENES: readonly TransportScene[] = [
  ...ACCEPTED,
  ...BREACHES.map(
    ({ name, comment, isChoice, commit }): TransportScene => ({
      name,
      ...(isChoice && { isChoice }),
      comment: `Ends the session: ${comment.charAt(0).toLowerCase()}${comment.slice(1)}`,
      async play(talk, connection) {
        await talk.expectEcho('json', 10);
        await commit(talk);
        talk.sendFrames([frame(0x01, 'after')]);
        await connection.expectClose(name, false, true);
      },
    }),
  ),
];
