/**
 * What a link says when nothing of the kind has happened: for each sentence that a person can be told, the honest course of events
 * that comes closest to its cause, in which it must not be told.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ErrorCode } from '../../src/errors.ts';
import { LOCAL_ERRORS, REMOTE_ERRORS } from '../../src/errors-table.ts';
import { type LinkOptions, parseKeyring, pinHub, serializeKeyring } from '../../src/index.ts';
import type { EndingRow } from '../../src/session/endings.ts';
import type { ClientState } from '../../src/session/transitions.ts';
import { HUB_STATIC, NODE_ID } from '../world/keys.ts';
import { toyCrypto } from '../world/toy-crypto.ts';
import { Shell } from './shell.ts';

const OTHER_STATIC = new Uint8Array(32).fill(9);

/** The events that say something themselves. `static-key-fresh` and the others have an error. */
type Spoken = 'new-hub' | 'hub-replaced' | 'message-dropped';
type Sentence = ErrorCode | Spoken;

/** The lives of one course: a restart begins another. */
let lives: Shell[] = [];

function life(options: Partial<LinkOptions> = {}): Shell {
  const shell = new Shell(options);
  lives.push(shell);
  shell.start();
  return shell;
}

/** The client after a restart. */
function again(before: Shell, options: Partial<LinkOptions> = {}): Shell {
  const keyring = parseKeyring(serializeKeyring(before.link.keyring), 'kiosk-7');
  const shell = life({ keyring, ...options });
  shell.clientKey = before.clientKey;
  return shell;
}

/** A client that knows the hub, and has dialled. */
const known = (options: Partial<LinkOptions> = {}): Shell => again(life().connect(), options);

/** The hub greets, and the connection ends before message 2. */
function cut(shell: Shell, closing?: Parameters<Shell['closed']>[0]): Shell {
  shell.answers.delete('write');
  shell.connect();
  shell.closed(closing);
  shell.answers.add('write');
  if (shell.link.state === 'waiting') shell.wake();
  return shell;
}

/** What the lives were told. */
function told(): Sentence[] {
  return lives.flatMap((shell) =>
    shell.ordered('tell').flatMap(({ event }): Sentence[] => {
      if (event.type === 'new-hub' || event.type === 'hub-replaced') return [event.type];
      if (event.type === 'dropped') return ['message-dropped'];
      const code = 'error' in event && (event.error as { code?: ErrorCode } | undefined)?.code;
      return code ? [code] : [];
    }),
  );
}

type Course = readonly [what: string, course: () => void];

/** The ends of connections, the questions and the warnings. */
const COURSES: { readonly [sentence in EndingRow<ClientState>['error'] | Spoken]: Course } & {
  readonly [sentence in ErrorCode]?: Course;
} = {
  'static-key-fresh': [
    'a first contact in which the hub says nothing, and a restart',
    () => known().connect(),
  ],
  'client-key-refused': [
    'a hub that restarts twice right after a first contact',
    () => {
      const shell = life().connect();
      for (let i = 0; i < 2; i++) shell.redial({ code: 1001 }).connect();
    },
  ],
  'new-hub': ['the first hub, and the same one again', () => known().connect().redial().connect()],
  'hub-replaced': [
    'a handshake that somebody spoils, and the hub with its old key',
    () => cut(known(), 1008).connect(),
  ],
  'hub-key-changed': [
    'the same, where the pin is kept',
    () => cut(known({ policy: { onKkFailure: 'keep-pin' } }), 1008).connect(),
  ],
  'unknown-hub': [
    'three new hubs within an hour, and the pinned one',
    () => {
      const shell = life().connect();
      for (const nodeId of ['a', 'b', 'c', NODE_ID]) {
        shell.clientKey = undefined;
        shell.redial().connect({ nodeId });
      }
    },
  ],
  'keyring-full': [
    'a new key of one of 16 hubs',
    () => {
      let { keyring } = life().connect().link;
      for (let i = 1; i < 16; i++) keyring = pinHub(keyring, `hub ${i}`, OTHER_STATIC);
      cut(again(lives[0]!, { keyring }), 1008).connect({ staticKey: OTHER_STATIC });
    },
  ],
  'pin-differs': [
    'another tab that pins the same key meanwhile',
    () => {
      const shell = new Shell({ shared: true }, ['derive', 'write']);
      lives.push(shell);
      shell.start();
      shell.run(shell.link.stored(undefined, 0));
      shell.connect();
      const { change, keyring } = shell.ordered('store').at(-1)!;
      const theirs = pinHub(keyring, NODE_ID, toyCrypto.x25519.publicKey(HUB_STATIC));
      shell.run(shell.link.stored(undefined, 0, change(theirs)));
      assert.is(shell.link.state, 'ready');
    },
  ],
  'psk-differs': [
    'a hub that is lost twice before message 2 of a first contact',
    () => cut(cut(life())).connect(),
  ],
  'negotiation-refused': [
    'the same, with the code of a hub that shuts down',
    () => cut(life(), 1001).connect(),
  ],
  'kk-refused': ['a hub that is lost before message 2 of KKpsk0', () => cut(known()).connect()],
  'kk-failed': ['a hub that says goodbye before message 2 of KKpsk0', () => cut(known(), 1000).connect()],
  refused: ['a hub that shuts down after KKpsk0', () => known().connect().redial({ code: 1001 }).connect()],
  'access-refused': ['a server that has no time', () => known().redial({ status: 503 }).connect()],
  unavailable: ['a network that breaks before HELLO', () => known().redial().connect()],
  timeout: [
    'a hub that takes 29.9 seconds for each message, and then says nothing for a day',
    () => {
      const shell = known();
      const { fromHub } = shell;
      shell.fromHub = (events) => {
        for (const event of events) {
          shell.now += 29_900;
          shell.run(shell.link.wake(shell.now));
          fromHub.call(shell, [event]);
        }
      };
      shell.connect();
      shell.now += 86_300_000;
      shell.run(shell.link.wake(shell.now));
      assert.is(shell.link.state, 'ready');
    },
  ],
  'not-reachable': ['a proxy whose hub is starting', () => known().redial({ status: 503 }).connect()],
  'not-a-hub': ['a server with too many connections', () => known().redial({ status: 429 }).connect()],
  'certificate-refused': [
    'a host that does not answer',
    () => known().redial({ cause: 'not-reachable' }).connect(),
  ],
  'broker-refused': ['the same for a broker', () => known().redial({ cause: 'not-reachable' }).connect()],
  dropped: [
    'a program that ends, and starts again',
    () => {
      const shell = known().connect();
      shell.run(shell.link.end(shell.now));
      shell.start();
      shell.connect();
    },
  ],
  'text-after-ready': [
    'a broker that has kept a HELLO of the hub',
    () => {
      const shell = known();
      shell.run(shell.link.received(1, `{"msg_type":"hello","payload":{"node_id":"${NODE_ID}"}}`, 0));
      shell.run(shell.link.opened(1, 0));
      shell.connect();
      assert.is(shell.link.state, 'ready');
    },
  ],
  'message-dropped': [
    'a message as long as the longest',
    () => {
      const shell = known({ session: { maxMessage: 100 } }).connect();
      for (const sealed of shell.hub!.sendBinary(new Uint8Array(100)))
        shell.run(shell.link.received(1, sealed, 0));
      assert.is(shell.told('bytes').length, 1);
    },
  ],
};

for (const [sentence, [what, course]] of Object.entries(COURSES) as [Sentence, Course][]) {
  test(`${sentence} is not told: ${what}`, () => {
    lives = [];
    course();
    assert.is(lives.at(-1)!.link.state, 'ready');
    assert.not.ok(told().includes(sentence), told().join());
  });
}

test('each other sentence is about a message that breaks the protocol, or a fault of this side: none is told to a client of an unusual hub', () => {
  lives = [];
  const shell = life({ session: { maxMessage: 200_000 } });
  for (const nodeId of [NODE_ID, NODE_ID]) {
    shell.connect({
      nodeId,
      hello: { peer: '\u0000 “é” 😀', pubkey: null, lists: [[[]], {}] },
      handshake: {
        min_protocol_version: 0,
        max_protocol_version: 9,
        handshake: true,
        binarize: false,
        preshared_key: 1,
      },
      suites: ['25519_AESGCM_SHA256', '25519_ChaChaPoly_SHA256'],
    });
    assert.is(shell.link.state, 'ready');
    shell.says('news', { text: '\u0000'.repeat(30_000), number: 1e300, '': [null, true, '\ud83d\ude00'] });
    for (const length of [0, 1, 65_518, 150_000]) {
      for (const sealed of shell.hub!.sendBinary(new Uint8Array(length)))
        shell.run(shell.link.received(shell.connection, sealed, shell.now));
    }
    shell.run(shell.link.end(shell.now));
    shell.start();
  }
  const sentences = [
    ...Object.keys(LOCAL_ERRORS),
    ...Object.keys(REMOTE_ERRORS),
    ...Object.keys(COURSES),
  ] as Sentence[];
  assert.equal(
    sentences.filter((sentence) => told().includes(sentence)),
    [],
  );
});

test.run();
