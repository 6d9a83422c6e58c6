/**
 * What the models are asked, and what Verifpal has to answer. A case is a model with some of its settings, or two models in one
 * system. A mutant is a case with a mistake, which Verifpal has to notice. docs/evidence/proofs.md says what the queries mean.
 */

/** A model with settings: the words after `only:` and `unless:` in its file. */
export interface Part {
  readonly model: 'XXpsk2' | 'KKpsk0';
  readonly settings: readonly string[];
}

export interface Case {
  readonly name: string;
  readonly parts: readonly [Part] | readonly [Part, Part];
  /** What the second model shares with the first, besides the hub. */
  readonly shares?: readonly string[];
  /** How often each principal runs; the first run and a second one beside it if it says nothing. */
  readonly sessions?: 1;
  /** The values about which no attack is found. */
  readonly holds: readonly string[];
  /** The values about which an attack is found. */
  readonly attacked: readonly string[];
}

/** A change of a model. */
export interface Change {
  readonly replace: readonly (readonly [from: string, to: string])[];
  /** The values about which an attack is found because of it. */
  readonly fails: readonly string[];
}

/** A change of a model of which no query of a case takes notice: what no claim rests on. */
export interface Unnoticed {
  readonly name: string;
  /** The name of the case, whose verdicts stay as they are. */
  readonly of: string;
  readonly replace: Change['replace'];
}

export interface Mutant extends Change {
  readonly name: string;
  /** The name of the case, in which no attack is found. */
  readonly of: string;
}

const xx = (...settings: string[]): Part => ({ model: 'XXpsk2', settings });
const kk = (...settings: string[]): Part => ({ model: 'KKpsk0', settings });

const SECRETS = ['hello', 'request', 'answer'];
const TRANSPORT = ['t1', 't2', 't3'];

export const CASES: readonly Case[] = [
  {
    name: 'XXpsk2',
    parts: [xx('later-leaks')],
    holds: [...SECRETS, 'm2', 'm3', ...TRANSPORT],
    attacked: ['p1'],
  },
  { name: 'XXpsk2, static keys', parts: [xx()], holds: ['gcs'], attacked: ['ghs'] },
  { name: 'XXpsk2, offer', parts: [xx('negotiated')], holds: ['offer', 'pname', 'm2'], attacked: [] },
  {
    name: 'XXpsk2, X25519 undone',
    parts: [xx('x25519-undone')],
    holds: SECRETS,
    attacked: [],
  },
  { name: 'XXpsk2, refused', parts: [xx('refused')], holds: ['hello', 'm2', 'gcs'], attacked: ['refusal'] },
  {
    name: 'XXpsk2, client’s ephemeral keys known',
    parts: [xx('client-ephemeral-known')],
    holds: ['hello', 'm2', 't3'],
    attacked: [],
  },
  {
    name: 'XXpsk2, PSK known',
    parts: [xx('psk-known')],
    holds: ['password'],
    attacked: ['hello', 'answer', 'm2', 't1'],
  },
  {
    name: 'XXpsk2, PSK of another hub known',
    parts: [xx('other-psk-known')],
    holds: ['password', 'hello', 'answer', 'm2', 't1'],
    attacked: [],
  },
  {
    name: 'XXpsk2, password known',
    parts: [xx('password-known')],
    holds: [],
    attacked: ['hello', 'answer', 'm2', 'm3', 't1', 't3'],
  },
  {
    name: 'XXpsk2, password known, both pinned',
    parts: [xx('password-known', 'hub-pinned', 'client-pinned', 'later-leaks')],
    holds: [...SECRETS, 'm2', 'm3', ...TRANSPORT],
    attacked: [],
  },
  {
    name: 'XXpsk2, password known, hub pinned',
    parts: [xx('password-known', 'hub-pinned')],
    holds: ['gcs', 'hello', 'request', 'm2', 't3'],
    attacked: ['m3', 't1', 'answer'],
  },
  {
    name: 'XXpsk2, password and client key known, hub pinned',
    parts: [xx('password-known', 'client-key-known', 'hub-pinned', 'client-pinned')],
    holds: ['m2', 't3', 'hello', 'request'],
    attacked: ['m3', 't1', 'answer'],
  },
  {
    name: 'XXpsk2, password and hub key known, client pinned',
    parts: [xx('password-known', 'hub-key-known', 'hub-pinned', 'client-pinned')],
    holds: ['m3', 't1', 't2', 'answer'],
    attacked: ['m2', 't3', 'hello'],
  },
  {
    name: 'XXpsk2, dishonest other client',
    parts: [xx(), xx('password-known', 'client-key-known')],
    sessions: 1,
    holds: [...SECRETS, 'm2', 'm3', ...TRANSPORT],
    attacked: [],
  },
  {
    name: 'XXpsk2, two clients',
    parts: [xx(), xx()],
    sessions: 1,
    holds: ['helloSecond', 'm3Second', 't1Second'],
    attacked: [],
  },
  {
    name: 'XXpsk2, two clients with one password',
    parts: [xx(), xx()],
    shares: ['password'],
    sessions: 1,
    holds: ['hello'],
    attacked: ['m3Second', 't1Second'],
  },
  {
    name: 'KKpsk0',
    parts: [kk('later-leaks')],
    holds: [...SECRETS, 'm1', 'm2', ...TRANSPORT],
    attacked: ['p1'],
  },
  { name: 'KKpsk0, offer', parts: [kk('negotiated')], holds: ['offer', 'pname', 'm1'], attacked: [] },
  {
    name: 'KKpsk0, X25519 undone',
    parts: [kk('x25519-undone')],
    holds: [...SECRETS, 'p1'],
    attacked: [],
  },
  {
    name: 'KKpsk0, password known',
    parts: [kk('password-known', 'later-leaks')],
    holds: [...SECRETS, 'm1', 'm2', ...TRANSPORT],
    attacked: [],
  },
  {
    name: 'KKpsk0, static keys known',
    parts: [kk('client-key-known', 'hub-key-known')],
    holds: [...SECRETS, 'm1', 'm2', ...TRANSPORT],
    attacked: [],
  },
  {
    name: 'KKpsk0, password and client key known',
    parts: [kk('password-known', 'client-key-known')],
    holds: ['m2', 't3', 'hello', 'request'],
    attacked: ['m1', 't1', 'answer'],
  },
  {
    name: 'KKpsk0, password and hub key known',
    parts: [kk('password-known', 'hub-key-known')],
    holds: ['m1', 't1', 't2', 'answer'],
    attacked: ['m2', 't3', 'hello'],
  },
  {
    name: 'KKpsk0, dishonest other client',
    parts: [kk(), kk('password-known', 'client-key-known')],
    sessions: 1,
    holds: [...SECRETS, 'm1', 'm2', ...TRANSPORT],
    attacked: [],
  },
  {
    name: 'KKpsk0, two clients with one password',
    parts: [kk(), kk()],
    shares: ['password'],
    sessions: 1,
    holds: ['helloSecond', 'm1Second', 't1Second'],
    attacked: [],
  },
  {
    name: 'KKpsk0, dishonest other client with the same password',
    parts: [kk('password-known', 'client-key-known'), kk()],
    shares: ['password'],
    sessions: 1,
    holds: ['helloSecond', 'm1Second', 'm2Second', 't1Second', 't3Second'],
    attacked: [],
  },
  {
    name: 'KKpsk0, password and client’s ephemeral keys known',
    parts: [kk('password-known', 'client-ephemeral-known')],
    holds: ['m2', 't3', 'hello'],
    attacked: [],
  },
  {
    name: 'KKpsk0, then XXpsk2: replace-pin',
    parts: [kk('refused'), xx('client-pinned', 'pin-used')],
    shares: ['password', 'cs'],
    sessions: 1,
    holds: ['helloSecond', 'm2Second', 't1Second', 'ownedSecond'],
    attacked: ['refusal'],
  },
  {
    name: 'KKpsk0, then XXpsk2: replace-pin, password known',
    parts: [kk('refused', 'password-known'), xx('client-pinned', 'pin-used')],
    shares: ['password', 'cs'],
    sessions: 1,
    holds: ['t1Second'],
    attacked: ['refusal', 'helloSecond', 'm2Second', 'ownedSecond'],
  },
  {
    name: 'KKpsk0, then XXpsk2: keep-pin, password known',
    parts: [kk('refused', 'password-known'), xx('hub-pinned', 'client-pinned', 'pin-used')],
    shares: ['password', 'cs'],
    sessions: 1,
    holds: ['helloSecond', 'm2Second', 't1Second', 'ownedSecond'],
    attacked: ['refusal'],
  },
];

/** What the client does with the key that it pins. */
const PIN_USED =
  'kpCSecond = HASH(esCSecond)\ngenerates ownedSecond\no1Second = AEAD_ENC(kpCSecond, n0, ownedSecond, nil)\n';
const PIN_SENT = 'ClientSecond -> HubSecond: o1Second';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'psk is left out',
    of: 'XXpsk2',
    replace: [
      ['HKDF(ckC4, pskC, nil)', 'HKDF(ckC4, nil, nil)'],
      ['HKDF(ckH4, pskH, nil)', 'HKDF(ckH4, nil, nil)'],
    ],
    fails: ['hello', 'm2', 't1'],
  },
  {
    name: 'psk is left out',
    of: 'KKpsk0, static keys known',
    replace: [
      ['HKDF(hC0, pskC, nil)', 'HKDF(hC0, nil, nil)'],
      ['HKDF(hH0, pskH, nil)', 'HKDF(hH0, nil, nil)'],
    ],
    fails: ['m2', 't1'],
  },
  {
    name: 'the PSK is the same for all hubs',
    of: 'XXpsk2, PSK of another hub known',
    replace: [
      ['pskC = HASH(password, node)', 'pskC = HASH(password, nil)'],
      ['pskH = HASH(password, node)', 'pskH = HASH(password, nil)'],
      ['pskO = HASH(password, other)', 'pskO = HASH(password, nil)'],
    ],
    fails: ['hello', 'm2', 't1'],
  },
  {
    name: 'the PSK is derived in a way that can be undone',
    of: 'XXpsk2, PSK known',
    replace: [
      ['pskC = HASH(password, node)', 'pskC = CONCAT(password, node)'],
      ['pskH = HASH(password, node)', 'pskH = CONCAT(password, node)'],
    ],
    fails: ['password'],
  },
  {
    name: 'the prologue is not bound',
    of: 'XXpsk2, offer',
    replace: [
      ['HASH(hC0, prologueC)', 'HASH(hC0, nil)'],
      ['HASH(hH0, prologueH)', 'HASH(hH0, nil)'],
    ],
    fails: ['offer'],
  },
  {
    name: 'the prologue is not bound',
    of: 'KKpsk0, offer',
    replace: [
      ['HASH(hC0, prologueC)', 'HASH(hC0, nil)'],
      ['HASH(hH0, prologueH)', 'HASH(hH0, nil)'],
    ],
    fails: ['offer'],
  },
  {
    name: 'the client compares no pin',
    of: 'XXpsk2, password known, both pinned',
    replace: [['_ = ASSERT(ghsC, ghs)?\n', '']],
    fails: ['hello', 'm2'],
  },
  {
    name: 'the client compares the pin after message 3',
    of: 'XXpsk2, password known, hub pinned',
    replace: [
      ['_ = ASSERT(ghsC, ghs)?\n', ''],
      ['answerC = ', '_ = ASSERT(ghsC, ghs)?\nanswerC = '],
    ],
    fails: ['gcs'],
  },
  {
    name: 'the hub compares no pin',
    of: 'XXpsk2, password known, both pinned',
    replace: [['_ = ASSERT(gcsH, gcs)?\n', '']],
    fails: ['answer', 'm3', 't1'],
  },
  {
    name: 'es is left out',
    of: 'XXpsk2, password known, both pinned',
    replace: [
      ['HKDF(ckC3, esC, nil)', 'HKDF(ckC3, nil, nil)'],
      ['HKDF(ckH3, esH, nil)', 'HKDF(ckH3, nil, nil)'],
    ],
    fails: ['m2'],
  },
  {
    name: 'se is left out',
    of: 'XXpsk2, password known, both pinned',
    replace: [
      ['HKDF(ckC5, seC, nil)', 'HKDF(ckC5, nil, nil)'],
      ['HKDF(ckH5, seH, nil)', 'HKDF(ckH5, nil, nil)'],
    ],
    fails: ['m3', 't1'],
  },
  {
    name: 'ee is left out',
    of: 'XXpsk2',
    replace: [
      ['HKDF(ckC2, eeC, nil)', 'HKDF(ckC2, nil, nil)'],
      ['HKDF(ckH2, eeH, nil)', 'HKDF(ckH2, nil, nil)'],
    ],
    fails: ['hello', 'answer'],
  },
  {
    name: 'the client sends its static key in the clear',
    of: 'XXpsk2, static keys',
    replace: [
      ['s3 = AEAD_ENC(kC5, n1, gcs, hC7)', 's3 = CONCAT(gcs, hC7)'],
      ['gcsH = AEAD_DEC(kH5, n1, s3, hH7)?', 'gcsH, _ = SPLIT(s3)?'],
    ],
    fails: ['gcs'],
  },
  {
    name: 'transport messages are not counted',
    of: 'XXpsk2',
    replace: [
      ['AEAD_ENC(toHubC, n1, request, nil)', 'AEAD_ENC(toHubC, n0, request, nil)'],
      ['AEAD_DEC(toHubH, n1, t2, nil)', 'AEAD_DEC(toHubH, n0, t2, nil)'],
    ],
    fails: ['t1', 't2'],
  },
  {
    name: 'both directions have one key',
    of: 'XXpsk2',
    replace: [
      ['AEAD_ENC(toClientH, n0', 'AEAD_ENC(toHubH, n0'],
      ['AEAD_DEC(toClientC, n0', 'AEAD_DEC(toHubC, n0'],
    ],
    fails: ['t3'],
  },
  {
    name: 'es and ss are left out',
    of: 'KKpsk0, password known',
    replace: [
      ['HKDF(ckC2, esC, nil)', 'HKDF(ckC2, nil, nil)'],
      ['HKDF(ckH2, esH, nil)', 'HKDF(ckH2, nil, nil)'],
      ['HKDF(ckC3, ssC, nil)', 'HKDF(ckC3, nil, nil)'],
      ['HKDF(ckH3, ssH, nil)', 'HKDF(ckH3, nil, nil)'],
    ],
    fails: ['hello', 'm2'],
  },
  {
    name: 'es is left out',
    of: 'KKpsk0, password and client key known',
    replace: [
      ['HKDF(ckC2, esC, nil)', 'HKDF(ckC2, nil, nil)'],
      ['HKDF(ckH2, esH, nil)', 'HKDF(ckH2, nil, nil)'],
    ],
    fails: ['m2'],
  },
  {
    name: 'se is left out',
    of: 'KKpsk0, password and hub key known',
    replace: [
      ['HKDF(ckC6, seC, nil)', 'HKDF(ckC6, nil, nil)'],
      ['HKDF(ckH6, seH, nil)', 'HKDF(ckH6, nil, nil)'],
    ],
    fails: ['t1'],
  },
  {
    name: 'ee is left out',
    of: 'KKpsk0',
    replace: [
      ['HKDF(ckC5, eeC, nil)', 'HKDF(ckC5, nil, nil)'],
      ['HKDF(ckH5, eeH, nil)', 'HKDF(ckH5, nil, nil)'],
    ],
    fails: ['hello', 'answer'],
  },
  {
    name: 'the hub is ready at message 1',
    of: 'KKpsk0',
    replace: [
      ['readyH = HASH(hH8, p1H)\n', ''],
      ['hH8 = HASH(hH7, m2)\n', 'hH8 = HASH(hH7, m2)\nreadyH = HASH(hH8, p1H)\n'],
    ],
    fails: ['m1'],
  },
  {
    name: 'the client drops its pin',
    of: 'KKpsk0, then XXpsk2: keep-pin, password known',
    replace: [['_ = ASSERT(ghsCSecond, ghsSecond)?\n', '']],
    fails: ['helloSecond', 'm2Second'],
  },
  {
    name: 'ss is left out',
    of: 'KKpsk0, password and client’s ephemeral keys known',
    replace: [
      ['HKDF(ckC3, ssC, nil)', 'HKDF(ckC3, nil, nil)'],
      ['HKDF(ckH3, ssH, nil)', 'HKDF(ckH3, nil, nil)'],
    ],
    fails: ['m2', 't3', 'hello'],
  },
  {
    name: 'the pin is replaced before message 2 opens',
    of: 'KKpsk0, then XXpsk2: replace-pin',
    replace: [
      [PIN_USED, ''],
      [`\n${PIN_SENT}`, ''],
      ['p2CSecond = ', `${PIN_USED}]\n${PIN_SENT}\nprincipal ClientSecond[\np2CSecond = `],
    ],
    fails: ['ownedSecond'],
  },
];

export const UNNOTICED: readonly Unnoticed[] = [
  {
    name: 'ss is left out',
    of: 'KKpsk0, password known',
    replace: [
      ['HKDF(ckC3, ssC, nil)', 'HKDF(ckC3, nil, nil)'],
      ['HKDF(ckH3, ssH, nil)', 'HKDF(ckH3, nil, nil)'],
    ],
  },
  {
    name: 'the static keys are not in the hash',
    of: 'KKpsk0, password known',
    replace: [
      ['HASH(hC1, gcs)', 'HASH(hC1, nil)'],
      ['HASH(hH1, gcs)', 'HASH(hH1, nil)'],
      ['HASH(hC2, ghs)', 'HASH(hC2, nil)'],
      ['HASH(hH2, ghs)', 'HASH(hH2, nil)'],
    ],
  },
  {
    name: 'es is left out',
    of: 'XXpsk2',
    replace: [
      ['HKDF(ckC3, esC, nil)', 'HKDF(ckC3, nil, nil)'],
      ['HKDF(ckH3, esH, nil)', 'HKDF(ckH3, nil, nil)'],
    ],
  },
  {
    name: 'the PSK is mixed into the key and not into the hash',
    of: 'XXpsk2',
    replace: [
      ['HASH(hC5, tC5)', 'HASH(hC5, nil)'],
      ['HASH(hH5, tH5)', 'HASH(hH5, nil)'],
    ],
  },
  {
    name: 'the static key in message 2 has no associated data',
    of: 'XXpsk2',
    replace: [
      ['AEAD_ENC(kH3, n0, ghs, hH4)', 'AEAD_ENC(kH3, n0, ghs, nil)'],
      ['AEAD_DEC(kC3, n0, s2, hC4)', 'AEAD_DEC(kC3, n0, s2, nil)'],
    ],
  },
  {
    name: 'the payload of message 2 has no associated data',
    of: 'XXpsk2, password known, both pinned',
    replace: [
      ['AEAD_ENC(kH5, n0, p2, hH6)', 'AEAD_ENC(kH5, n0, p2, nil)'],
      ['AEAD_DEC(kC5, n0, m2, hC6)', 'AEAD_DEC(kC5, n0, m2, nil)'],
    ],
  },
];
