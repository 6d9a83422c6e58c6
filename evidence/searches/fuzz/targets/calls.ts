/**
 * Calls that no program should make, among those that it should: in the wrong state, with wrong arguments, and from
 * callbacks of the session itself. They throw a LocalError and change nothing: the pair becomes ready all the same.
 */
import { type Closing, HubSession, type HubSessionEvent, LocalError } from '../../../../src/index.ts';
import { ClientSession, type SessionEvent } from '../../../../src/parts.ts';
import type { Data } from '../../../../test/world/line.ts';
import type { Random } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { hostile } from '../hostile.ts';
import { breach, tally } from '../law.ts';

type Session = ClientSession | HubSession;
type Event = SessionEvent | HubSessionEvent;

/** Methods of both sessions, and whether a call of each with such an argument may do anything. */
const METHODS = ['receive', 'sendJson', 'sendBinary', 'closed', 'start', 'resume', 'providePsk'];

export function calls(random: Random): void {
  const psk = random.bytes(32);
  const isKk = random.oneIn(2);
  const [clientStatic, hubStatic] = [random.bytes(32), random.bytes(32)];
  const { publicKey } = toyCrypto.x25519;
  const sessions: Session[] = [];
  /** Calls the session from within itself, which it has to refuse. */
  const reenter = (index: number): void => {
    const session = sessions[index];
    if (session !== undefined && random.oneIn(6)) assertRefused(random, session, true);
  };
  const within = (index: number): typeof toyCrypto => ({
    ...toyCrypto,
    sha256(...parts) {
      reenter(index);
      return toyCrypto.sha256(...parts);
    },
    hmacSha256(key, ...parts) {
      reenter(index);
      return toyCrypto.hmacSha256(key, ...parts);
    },
  });
  const isAsked = random.oneIn(2);
  const client = new ClientSession({
    crypto: within(0),
    siteId: '',
    randomBytes: (length) => random.bytes(length),
    keyring: {
      staticKey: random.oneIn(2) ? clientStatic : { publicKey: publicKey(clientStatic) },
      pins: isKk ? [{ nodeId: 'hub-1', key: new Uint8Array(publicKey(hubStatic)) }] : [],
      psks: isAsked ? [] : [{ nodeId: 'hub-1', key: new Uint8Array(psk) }],
    },
  });
  const hub = new HubSession({
    crypto: within(1),
    nodeId: 'hub-1',
    staticKey: hubStatic,
    randomBytes(length) {
      reenter(1);
      return random.bytes(length);
    },
    psk,
    ...(isKk && { clientKey: publicKey(clientStatic) }),
  });
  sessions.push(client, hub);
  const queue: [Session, Data][] = [];
  const handle = (session: Session, events: readonly Event[]): void => {
    for (const event of events) {
      const other = session === client ? hub : client;
      if (event.type === 'transmit') queue.push([other, event.data]);
      if (event.type === 'close') breach(`misuse made a session fail with ${event.error.code}`, event.error);
      if (event.type === 'psk-needed') handle(client, client.providePsk(psk));
      if (event.type === 'waiting') {
        const secret = event.publicKey && toyCrypto.x25519.sharedSecret(clientStatic, event.publicKey);
        handle(client, client.resume(secret));
      }
    }
  };
  for (let i = random.below(3); i > 0; i--) assertRefused(random, hub, false);
  handle(hub, hub.start());
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [to, data] = next;
    for (let i = random.below(3); i > 0; i--) assertRefused(random, random.pick(sessions), false);
    tally.inputs++;
    handle(to, to.receive(data));
  }
  if (client.state !== 'ready' || hub.state !== 'ready')
    breach(`misuse left a pair in ${client.state} and ${hub.state}`);
  const received = client.sendJson('{"last":1}').flatMap((data) => hub.receive(data));
  if (received[0]?.type !== 'message') breach('misuse cost a message');
  for (const session of sessions) {
    session.closed(random.pick<Closing>([1000, 'timeout', {}]));
    assertRefused(random, session, false);
  }
}

/** Makes a call that the session has to refuse or to ignore. */
function assertRefused(random: Random, session: Session, isWithin: boolean): void {
  const before = session.state;
  const method = random.pick(METHODS);
  const call = (session as unknown as { [method: string]: ((argument: unknown) => unknown) | undefined })[
    method
  ];
  if (call === undefined) return;
  const argument = hostile(random);
  if (!isWithin && mayDoSomething(method, argument, before)) return;
  tally.inputs++;
  let result: unknown;
  try {
    result = call.call(session, argument);
  } catch (error) {
    if (!(error instanceof LocalError)) breach(`${method}() threw no LocalError`, error);
    if (isWithin && !['wrong-state', 'bad-argument', 'bad-length', 'session-over'].includes(error.code)) {
      breach(`${method}() in a callback threw ${error.code}`, error);
    }
    result = [];
  }
  const isNothing = Array.isArray(result) && result.length === 0;
  if (!isNothing) breach(`${method}() in state ${before} did something`);
  if (session.state !== before) breach(`${method}() in state ${before} led to ${session.state}`);
}

/** Whether a call is legal, or is input from the peer. */
function mayDoSomething(method: string, argument: unknown, state: string): boolean {
  const isOver = state === 'closed';
  if (method === 'receive') return !isOver && (typeof argument === 'string' || ArrayBuffer.isView(argument));
  if (method === 'closed') return !isOver;
  if (method === 'start') return state === 'new' || state === 'awaiting-hello';
  if (method === 'resume') return false;
  if (method === 'providePsk') return ArrayBuffer.isView(argument);
  return state === 'ready';
}
