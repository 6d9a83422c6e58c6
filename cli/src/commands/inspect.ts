/** `inspect`: shows a hub's messages before the handshake, and a client's choice. */
import { join } from 'node:path';
import { writeFileAtomically } from 'hub-protocol-client/atomic-file';
import {
  authorizedUrl,
  findHub,
  type Identity,
  type Keyring,
  type NoiseSelection,
  OFFERED_SUITES,
  RemoteError,
  readNodeId,
  readOffer,
  selectEndpoint,
  selectNoise,
  splitUrl,
} from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { makeFolder, readAs, readAuthority, readIdentityFile, readKeyringFile, reasonOf } from '../files.ts';
import { type Greeting, type Received, receiveGreeting } from '../greeting.ts';
import { hiding, hidingInJson } from '../hidden.ts';
import { shown, shownList } from '../shown.ts';

const PROGRAM = 'hub-protocol';
const LONGEST_WAIT = 86_400; // seconds; timers of Node take no more than 25 days

export const INSPECT: Command = {
  name: 'inspect',
  summary: "show a hub's HELLO and offer, and what would be chosen",
  usage: 'inspect IDENTITY [URL] [options]',
  help: `\
Connects to a hub, shows what it says before the handshake, says which pattern
and suite a client would choose, and hangs up. Without URL it connects to the
address in the identity. The hub sees a connection that ends before message 1. A
hub that allows one connection for each access key may close the device's.

  hub-protocol inspect kiosk.json
  hub-protocol inspect kiosk.json wss://hub.local:5678 --ca hub.pem
  hub-protocol inspect kiosk.json --keyring kiosk.keyring.json
  hub-protocol inspect kiosk.json --save seen     keeps both messages as files,
                                                  for psk and explain

The access key is taken from the identity, and shown nowhere. Only WebSocket: a
hub on MQTT greets a client when that publishes its own HELLO, which would end
the session of the device.
`,
  options: {
    keyring: { type: 'string', argument: 'FILE', help: 'its keyring, to say whether the hub is pinned' },
    ca: {
      type: 'string',
      argument: 'FILE',
      help: 'a certificate authority to trust, as PEM (default: ca.pem next to the identity, if "hub" has written it)',
    },
    save: { type: 'string', argument: 'FOLDER', help: 'write hello.json and offer.json, as they came' },
    timeout: { type: 'string', argument: 'SECONDS', help: 'longest wait for the offer (10)' },
    'allow-plaintext': {
      type: 'boolean',
      help: 'connect without TLS too, which shows the access key to the network',
    },
  },
  run: inspect,
};

async function inspect(args: Arguments): Promise<Result> {
  const [path, second, third] = args.positionals;
  if (path === undefined || path.includes('://') || third !== undefined) {
    throw new CannotRun(
      'expected an identity, which has the access key, and after it at most one URL: see --help',
    );
  }
  const identity = readIdentityFile(path);
  const keyringPath = args.text('keyring');
  const keyring = keyringPath === undefined ? undefined : readKeyringFile(keyringPath, identity.accessKey);
  const ca = readAuthority(args.text('ca'), path);
  const timeout = Number(args.text('timeout') ?? '10') * 1000;
  if (!(timeout > 0 && timeout <= LONGEST_WAIT * 1000)) {
    throw new CannotRun(`--timeout expects a number of seconds, at most ${LONGEST_WAIT}`);
  }
  const allowPlaintext = args.flag('allow-plaintext');
  const given = second === undefined ? undefined : readUrl(second);
  const address =
    given ?? readAs(path, () => selectEndpoint(identity, { supported: ['wss'], allowPlaintext }).url);
  if (!URL.canParse(address)) {
    const where = given === undefined ? path : 'URL';
    throw new CannotRun(`${where}: the address has a host that no URL can have (bad-endpoint)`);
  }
  const url = readAs('URL', () => authorizedUrl(address, PROGRAM, identity.accessKey, { allowPlaintext }));

  const greeting = await receiveGreeting({ url, ca, timeout });
  const folder = args.text('save');
  if (folder !== undefined) save(folder, greeting);
  return report(greeting, identity, keyring);
}

/** Refuses a URL with credentials: other users can see the arguments of a program. */
function readUrl(url: string): string {
  const parts = splitUrl(url);
  if (parts === undefined) throw new CannotRun('expected a URL such as wss://hub.local:5678');
  if (parts.userinfo !== '' || /authorization/i.test(parts.query)) {
    throw new CannotRun(
      'the URL contains credentials: leave them out, the access key is taken from the identity',
    );
  }
  return url;
}

function save(folder: string, { hello, offer }: Greeting): void {
  makeFolder(folder);
  try {
    if (hello !== undefined) writeFileAtomically(join(folder, 'hello.json'), hello.text, true);
    if (offer !== undefined) writeFileAtomically(join(folder, 'offer.json'), offer.text, true);
  } catch (error) {
    throw new CannotRun(`cannot write to ${folder}: ${reasonOf(error)}`);
  }
}

/** The contents of the two messages. A field is absent if it cannot be read. */
interface Findings {
  node_id?: string;
  patterns?: readonly string[];
  suites?: readonly string[];
  chosen?: NoiseSelection;
  fault?: { readonly code: string; readonly message: string };
}

function examine({ hello, offer, fault }: Greeting, keyring: Keyring | undefined): Findings {
  const findings: Findings = {};
  try {
    if (hello !== undefined) findings.node_id = readNodeId(hello.payload);
    if (fault !== undefined) return { ...findings, fault };
    if (hello === undefined) {
      throw new RemoteError('handshake-before-hello', 'the hub sent a HANDSHAKE, and no HELLO before it');
    }
    Object.assign(findings, readOffer(offer!.payload));
    const { patterns, suites } = findings as Required<Findings>;
    const pinned = keyring !== undefined && findHub(keyring.pins, findings.node_id!) !== undefined;
    findings.chosen = selectNoise({ patterns, suites }, { suites: OFFERED_SUITES, pinned });
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    findings.fault = { code: error.code, message: error.message };
  }
  return findings;
}

function report(greeting: Greeting, { accessKey }: Identity, keyring: Keyring | undefined): Result {
  const findings = examine(greeting, keyring);
  const { node_id, patterns, suites, chosen, fault } = findings;
  const { hello, offer } = greeting;
  const hide = hiding(accessKey);
  const hideInJson = hidingInJson(accessKey);
  const othersIn = ({ payload, text }: Received, known: readonly string[]): string => {
    const others = Object.keys(payload).filter((name) => !known.includes(name));
    return `${Buffer.byteLength(text)} bytes; further fields: ${shownList(others.map(hide))}`;
  };
  const lines: string[] = [];
  if (node_id !== undefined) lines.push(`node id   ${shown(hide(node_id))}`);
  if (hello !== undefined) lines.push(`HELLO     ${othersIn(hello, ['node_id'])}`);
  if (offer !== undefined) lines.push(`HANDSHAKE ${othersIn(offer, ['noise', 'max_protocol_version'])}`);
  if (patterns !== undefined) lines.push(`patterns  ${shownList(patterns.map(hide))}`);
  if (suites !== undefined) lines.push(`suites    ${shownList(suites.map(hide))}`);
  if (node_id !== undefined && keyring !== undefined) lines.push(...inKeyring(keyring, node_id));
  if (chosen !== undefined) lines.push(`chosen    ${chosen.pattern} with ${chosen.suite}`);
  const notes = notesOn(findings, keyring);
  lines.push(...notes.map((note) => `note      ${note}`));
  if (fault !== undefined) lines.push(`FAULT     ${fault.message} (${fault.code})`);
  const json = {
    node_id: node_id && hide(node_id),
    patterns: patterns?.map(hide),
    suites: suites?.map(hide),
    chosen,
    fault,
    notes,
    hello: hello && hideInJson(hello.text),
    offer: offer && hideInJson(offer.text),
  };
  return { status: fault === undefined ? 0 : 1, text: `${lines.join('\n')}\n`, json };
}

function inKeyring(keyring: Keyring, nodeId: string): string[] {
  const psk = findHub(keyring.psks, nodeId);
  const isPinned = findHub(keyring.pins, nodeId) !== undefined;
  const kind =
    psk === undefined ? 'none, so it is derived' : psk.isProvisioned ? 'provisioned' : 'derived before';
  return [`pin       ${isPinned ? 'in the keyring' : 'none in the keyring'}`, `PSK       ${kind}`];
}

function notesOn({ patterns, suites, chosen }: Findings, keyring: Keyring | undefined): string[] {
  const notes: string[] = [];
  if (chosen === undefined) return notes;
  if (patterns!.includes('KKpsk0') && keyring?.staticKeyIsFresh) {
    notes.push(
      'the hub offers KKpsk0, so it has pinned a static key for this access key; the keyring’s static key is new, and will ' +
        'probably be refused: restore the old one, or let the operator reset it',
    );
  } else if (!patterns!.includes('KKpsk0')) {
    notes.push('the hub does not offer KKpsk0: it has pinned no static key for this access key');
  }
  if (!suites!.includes(OFFERED_SUITES[0]!))
    notes.push(`the hub does not offer ${OFFERED_SUITES[0]}, which every hub must offer`);
  return notes;
}
