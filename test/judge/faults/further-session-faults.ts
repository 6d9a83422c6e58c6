/** Further breakages of the rules about whole connections: handshake, order, endings, pins and policy. */
import { type Breakage, broken, chosen, live, same } from './breakage.ts';

const PAYLOADS = 'src/wire/handshake.ts';
const REASSEMBLER = 'src/wire/frame-joiner.ts';
const CLIENT = 'src/session/client-handshake.ts';
const SESSION = 'src/session/channel.ts';
const ENDINGS = 'src/session/endings.ts';
const POLICY = 'src/policy/connection-policy.ts';
const POLICY_TABLES = 'src/policy/tables.ts';

export const FURTHER_SESSION_RULES: { readonly [rule: string]: readonly Breakage[] } = {
  // The handshake
  'P-62': [
    broken('an empty payload is refused in message 2', [PAYLOADS, 'if (bytes.length === 0) return {};', '']),
    broken('an encoding of any type will do', [
      PAYLOADS,
      "&& typeof encoding !== 'string')",
      "&& encoding === '')",
    ]),
  ],
  'P-66': [
    broken('a hub is pinned before the payload of message 2 is read', [
      CLIENT,
      'const payload = readMessage2Payload(bytes);',
      "if (this.pin === undefined) this.channel.emit({ type: 'pin', nodeId: this.nodeId, key: this.handshake!.rs! });\n    const payload = readMessage2Payload(bytes);",
    ]),
  ],

  'P-68': [
    chosen(
      'what a client tells its caller',
      broken('a refusal after message 3 says nothing about the client’s key', [
        ENDINGS,
        "    isFresh: true,\n    reason: 'client-key-refused',",
        "    reason: 'refused',\n    retry: 'later',\n    error: 'refused',",
      ]),
    ),
  ],
  'P-71': [
    chosen(
      'the code',
      broken('a damaged static key is taken for another password', [
        CLIENT,
        "if (error.code === 'payload-not-authentic') throw this.unopened();",
        "if (error.code === 'payload-not-authentic' || error.code === 'static-key-not-authentic') throw this.unopened();",
      ]),
    ),
  ],

  // Messages
  'P-92': [live('client-names-no-session')],
  'P-95': [
    broken('text that is not JSON is dropped', [
      REASSEMBLER,
      "return { type: 'message', kind: 'json', text };",
      "try {\n    JSON.parse(text);\n  } catch {\n    return { type: 'dropped', kind: 'json', bytes: length, reason: 'not-utf8' };\n  }\n  return { type: 'message', kind: 'json', text };",
    ]),
  ],

  // Failures and endings
  'P-105': [live('hub-says-why')],
  'P-106': [
    broken('1000 is a refusal', [ENDINGS, 'return code === 1008', 'return code === 1000 || code === 1008']),
    broken('1011 is a refusal', [ENDINGS, 'return code === 1008', 'return code === 1011 || code === 1008']),
    broken('1008 is a loss', [ENDINGS, 'return code === 1008', 'return code === 1007']),
  ],
  'P-107': [
    broken('it makes no difference whether the hub was heard', [
      ENDINGS,
      "  { heard: true, reason: 'dropped', retry: 'now', error: 'dropped' },\n",
      '',
    ]),
    broken('any message counts as heard', [
      SESSION,
      'private peerProved = false;',
      'private peerProved = true;',
    ]),
  ],

  // Keys, pins and the PSK
  'P-112': [
    same('pinned-at-every-xx'),
    chosen(
      'what a client tells its caller',
      broken('a changed key is tried again', [
        ENDINGS,
        "{ error: 'hub-key-changed', reason: 'refused', retry: 'never' },",
        "{ error: 'hub-key-changed', reason: 'refused', retry: 'later' },",
      ]),
    ),
  ],
  'P-114': [chosen('the event is one way to tell it', same('pin-kept-after-failed-kk'))],
  'P-116': [
    broken('only a failed tag casts doubt on the pin', [
      CLIENT,
      "if (this.pattern === 'KKpsk0') this.doubtPin();\n",
      "if (this.pattern === 'KKpsk0' && error.code === 'payload-not-authentic') this.doubtPin();\n",
    ]),
    broken('a loss makes the pin suspect', [
      ENDINGS,
      "{ close: 'loss', reason: 'dropped', retry: 'now', error: 'dropped' },",
      "{ close: 'loss', reason: 'dropped', retry: 'now', error: 'dropped', doubtsPin: true },",
    ]),
  ],

  // Policy
  'P-184': [
    broken('the answer of an old derivation is taken', [
      'src/link/derivation.ts',
      'number !== this.number || nodeId',
      'nodeId',
    ]),
  ],
  'P-161': [
    broken('a pause is as long as can be', [
      POLICY,
      'const random = drawBytes(this.randomBytes, 3);',
      'drawBytes(this.randomBytes, 3);\n    const random = [255, 255, 255];',
    ]),
    broken('one ready connection is enough to start anew', [
      POLICY,
      'now - this.readyAt >= this.times.steadyAfter!',
      'wasReady',
    ]),
    broken('a person is asked about a hub that loses sessions', [
      POLICY_TABLES,
      "  { verdict: 'pause' },\n",
      "  { error: 'text-after-ready', verdict: 'ask' },\n  { verdict: 'pause' },\n",
    ]),
    broken('a deadline starts anew at each call', [
      POLICY,
      'if (state !== this.sessionState || at < this.sessionStateSince) {',
      "if (state !== '') {",
    ]),
    broken('a timer of a pause that was cut short counts', [
      POLICY,
      '(isEarly && this.hasOldTimer)',
      '(isEarly && next === undefined)',
    ]),
    broken('goodbye is forgotten', [POLICY_TABLES, "  { state: 'leaving', verdict: 'rest' },\n", '']),
    broken('pauses go on growing after resume', [
      POLICY,
      'this.limit = this.times.basePause!;\n    this.isStarting',
      'this.isStarting',
    ]),
    broken('the pattern is kept after silence', [POLICY, 'usesXxAlone ?? ', '']),
  ],
};
