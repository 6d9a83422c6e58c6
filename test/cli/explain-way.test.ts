/**
 * `explain` on what happens to messages on their way: each message of both patterns lost, overtaken, repeated, cut, damaged,
 * written anew or sent as bytes, with the right PSK and a wrong one, from the recording of either side and from both. What
 * it calls certain is so, what it calls likely names what happened, and a second recording takes back nothing that is right.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Evidence } from '../../cli/src/explain/evidence.ts';
import { type Explanation, explain } from '../../cli/src/explain/explain.ts';
import type { Role } from '../../cli/src/explain/recording.ts';
import { type Data, KK, NODE_ID, PSK, play, type Setup } from './faults.ts';

const OTHER = new Uint8Array(32).fill(9);

/** What was done to a message, and the causes that say so. */
interface Way {
  readonly name: string;
  /** What arrives in its place, and what arrives after the next message of the same side. */
  readonly change: (data: Data) => { now: Data[]; later?: Data[] };
  readonly causes: RegExp;
  /** The words with which a likely cause names it as a possibility. */
  readonly words: RegExp;
  /** Nothing is wrong with the message: no cause may name it. */
  readonly isHarmless?: true;
}

const CHANGED = /^(?:message-changed|hello-changed|offer-changed|patterns-stripped|suites-stripped)$/;
const bytes = (data: Data): Data => (typeof data === 'string' ? new Uint8Array(Buffer.from(data)) : data);
const keep = (data: Data): Data => (typeof data === 'string' ? data : data.slice());

/** Changes one character of a text, or flips a bit of bytes. */
function damage(data: Data, at: number, by = '~'): Data {
  const index = Math.floor(at * (data.length - 1));
  if (typeof data === 'string') return data.slice(0, index) + by + data.slice(index + 1);
  const damaged = data.slice();
  damaged[index]! ^= 4;
  return damaged;
}

/** Changes one hexadecimal digit of the Noise message, or a bit of other messages. */
function flip(data: Data, at: number): Data {
  const hex = typeof data === 'string' ? /"msg":"([0-9a-f]+)"/.exec(data) : null;
  if (typeof data !== 'string' || hex === null) return damage(data, at, 'z');
  const index = hex.index + 7 + Math.floor(at * (hex[1]!.length - 1));
  const digit = (Number.parseInt(data[index]!, 16) ^ 1).toString(16);
  return data.slice(0, index) + digit + data.slice(index + 1);
}

function cut(data: Data): Data {
  const hex = typeof data === 'string' ? /"msg":"([0-9a-f]+)"/.exec(data)?.[1] : undefined;
  if (typeof data !== 'string' || hex === undefined) return data.slice(0, -3);
  return data.replace(hex, hex.slice(0, 80));
}

const WAYS: readonly Way[] = [
  {
    name: 'is lost',
    change: () => ({ now: [] }),
    causes: /^message-(?:lost|order)$/,
    words: /lost/,
  },
  {
    name: 'is overtaken by the next',
    change: (data) => ({ now: [], later: [data] }),
    causes: /^message-(?:lost|order)$/,
    words: /overt(?:ook|aken)|out of order|another order/,
  },
  {
    name: 'arrives twice',
    change: (data) => ({ now: [data, keep(data)] }),
    causes: /^message-order$/,
    words: /twice|repeated|out of order/,
  },
  {
    name: 'arrives once more after the next',
    change: (data) => ({ now: [data], later: [keep(data)] }),
    causes: /^message-order$/,
    words: /twice|repeated|out of order|another order/,
  },
  ...[0, 0.3, 0.5, 0.7, 1].map((at) => ({
    name: `has one character changed, ${at * 100} % in`,
    change: (data: Data) => ({ now: [damage(data, at)] }),
    causes: CHANGED,
    words: /changed/,
  })),
  ...[0, 0.1, 0.5, 0.9, 1].map((at) => ({
    name: `has a bit flipped, ${at * 100} % in`,
    change: (data: Data) => ({ now: [flip(data, at)] }),
    causes: CHANGED,
    words: /changed/,
  })),
  {
    name: 'is cut short',
    change: (data) => ({ now: [cut(data)] }),
    causes: CHANGED,
    words: /changed/,
  },
  {
    name: 'is replaced by bytes that are not UTF-8',
    change: () => ({ now: [new Uint8Array(77).fill(0xc1)] }),
    causes: /^message-(?:changed|lost|order)$/,
    words: /changed/,
  },
  {
    name: 'is replaced by another envelope',
    change: () => ({ now: ['{"msg_type":"bus","payload":{}}'] }),
    causes: /^message-(?:changed|lost|order)$/,
    words: /changed/,
  },
  {
    name: 'follows another envelope',
    change: (data) => ({ now: ['{"msg_type":"bus","payload":{}}', data] }),
    causes: /^message-(?:changed|lost|order)$/,
    words: /changed/,
  },
  {
    name: 'is written anew, with white space',
    change: (data) => ({
      now: [typeof data === 'string' ? JSON.stringify(JSON.parse(data), null, 1) : data],
    }),
    causes: /^$/,
    words: /^$/,
    isHarmless: true,
  },
  {
    name: 'gets a field that nobody reads, if it is a Noise message',
    change: (data) => ({
      now: [typeof data === 'string' ? data.replace('"msg":', '"sent_at":1.0,"msg":') : data],
    }),
    causes: /^$/,
    words: /^$/,
    isHarmless: true,
  },
  {
    name: 'arrives as bytes',
    change: (data) => ({ now: [bytes(data)] }),
    causes: /^$/,
    words: /^$/,
    isHarmless: true,
  },
];

/** The messages of each side, counted from 1. Two transport messages follow the handshake. */
const MESSAGES: readonly {
  readonly pattern: 'XXpsk2' | 'KKpsk0';
  readonly from: Role;
  readonly count: number;
}[] = [
  ...[1, 2, 3].map((count) => ({ pattern: 'XXpsk2', from: 'hub', count }) as const),
  ...[1, 2, 3, 4].map((count) => ({ pattern: 'XXpsk2', from: 'client', count }) as const),
  ...[1, 2, 3].map((count) => ({ pattern: 'KKpsk0', from: 'hub', count }) as const),
  ...[1, 2, 3].map((count) => ({ pattern: 'KKpsk0', from: 'client', count }) as const),
];

interface Right {
  readonly causes: RegExp;
  readonly words: RegExp;
}

/** Plays a connection in which this happens to one message. Everything may also be sent as bytes, as over MQTT. */
function played(
  { pattern, from, count }: (typeof MESSAGES)[number],
  way: Way | undefined,
  hasWrongPsk: boolean,
  isMqtt: boolean,
): ReturnType<typeof play> {
  const client = { ...(pattern === 'KKpsk0' ? KK.client : {}) };
  const setup: Setup = {
    ...(pattern === 'KKpsk0' ? KK : {}),
    client: hasWrongPsk ? { ...client, psks: [{ nodeId: NODE_ID, key: OTHER }] } : client,
  };
  let held: Data[] = [];
  const sent = { client: 0, hub: 0 };
  const onTheWay = (side: Role, data: Data): Data[] => {
    const carried = isMqtt ? bytes(data) : data;
    if (side !== from) return [carried];
    const number = ++sent[side];
    if (number === count && way !== undefined) {
      const { now, later = [] } = way.change(data);
      held = later;
      return isMqtt ? now.map(bytes) : now;
    }
    const after = number > count ? held : [];
    if (number > count) held = [];
    return [carried, ...(isMqtt ? after.map(bytes) : after)];
  };
  return play({
    ...setup,
    wire: (side, data) => onTheWay(side, data),
    after: ({ client, hub }) => {
      // A second transport message, then the end: whoever waits gives up.
      if (client.state === 'ready') {
        for (const message of client.sendJson({ msg_type: 'ping', payload: {} })) {
          for (const arrived of onTheWay('client', message)) hub.receive(arrived);
        }
      }
      if (hub.state === 'ready') {
        for (const message of hub.sendJson({ msg_type: 'bus', payload: {} })) {
          for (const arrived of onTheWay('hub', message)) client.receive(arrived);
        }
      }
      const isOver = (state: string): boolean => state === 'failed' || state === 'closed';
      const wasOver = { client: isOver(client.state), hub: isOver(hub.state) };
      client.closed(wasOver.hub ? 1008 : 'timeout');
      hub.closed(wasOver.client ? 1008 : 1000);
    },
  });
}

const why = (evidence: Partial<Evidence>): Explanation =>
  explain({ derive: () => PSK, mistakenPsks: () => [], ...evidence });

/** What is wrong with an explanation. */
function complaint({ cause }: Explanation, right: readonly Right[]): string | undefined {
  if (cause === undefined) return undefined;
  const { name, certainty, text } = cause;
  if (right.some(({ causes }) => causes.test(name))) return undefined;
  if (certainty === 'certain') return `wrong and certain: ${name}: ${text}`;
  return right.some(({ words }) => words.test(text))
    ? undefined
    : `likely, without what happened: ${name}: ${text}`;
}

/** Whether only the contents of an encrypted message, which recordings do not have, would show what happened. */
function isUnseen({ pattern, from, count }: (typeof MESSAGES)[number], { name }: Way): boolean {
  const isSealed = from === 'client' && count > (pattern === 'XXpsk2' ? 2 : 1);
  return isSealed && /changed|flipped/.test(name);
}

const WRONG_PSK: Right = { causes: /^psk-(?:differs|stale)$/, words: /PSK/ };

for (const hasWrongPsk of [false, true]) {
  for (const isMqtt of [false, true]) {
    for (const message of MESSAGES) {
      const { pattern, from, count } = message;
      const what = `${pattern}${isMqtt ? ' over MQTT' : ''}${hasWrongPsk ? ' with a wrong PSK' : ''}`;
      test(`${what}: message ${count} of the ${from}, whatever happens to it`, () => {
        const wrong: string[] = [];
        for (const way of WAYS) {
          const { client, hub } = played(message, way, hasWrongPsk, isMqtt);
          const right = [...(way.isHarmless ? [] : [way]), ...(hasWrongPsk ? [WRONG_PSK] : [])];
          const complain = (evidence: string, text: string): unknown =>
            wrong.push(`${way.name}, from ${evidence}: ${text}`);
          const both = why({ client, hub });
          const isRight = ({ cause }: Explanation): boolean =>
            cause !== undefined && right.some(({ causes }) => causes.test(cause.name));
          const sureness = (one: Explanation): number =>
            isRight(one) ? (one.cause!.certainty === 'certain' ? 2 : 1) : 0;
          const isFailed = client.failure?.isOwn === true || hub.failure?.isOwn === true || !hub.isReady;
          if (isFailed && both.cause === undefined && !isUnseen(message, way)) complain('both', 'no cause');
          for (const [name, one] of [
            ['the client', why({ client })],
            ['the hub', why({ hub })],
            ['both', both],
          ] as const) {
            const text = complaint(one, right);
            if (text !== undefined) complain(name, text);
            if (sureness(one) > sureness(both)) {
              complain(
                name,
                `${one.cause!.name} (${one.cause!.certainty}), and from both ${both.cause?.name}`,
              );
            }
          }
        }
        assert.equal(wrong, []);
      });
    }
  }
}

test.run();
