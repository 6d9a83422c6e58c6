/** `explain`: why did this handshake fail? */
import { bytesToHex, findHub, wrapped } from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Command, type Result, type Status } from '../command.ts';
import { deriveAtOnce, draw } from '../derive.ts';
import { Case, type Evidence } from '../explain/evidence.ts';
import { type Explanation, explain } from '../explain/explain.ts';
import { type Recording, readRecording } from '../explain/recording.ts';
import { readAnyKeyring, readFile, readIdentityFile, readKeyFile, readPayloadFile } from '../files.ts';
import { readPassword } from '../password.ts';

export const EXPLAIN: Command = {
  name: 'explain',
  summary: 'find out why a handshake failed, from recordings of it',
  usage: 'explain RECORDING [RECORDING] [options]',
  help: `\
Reads what one side recorded of a connection, or both, and whatever else you
have, and names the cause: a password, a stale PSK, an offer changed on the way,
a key that was replaced or lost, messages lost or out of order. Where it cannot
tell, it says so, and what would help.

  hub-protocol explain client.jsonl
  hub-protocol explain client.jsonl hub.jsonl
  hub-protocol explain client.jsonl --hello hello.json --offer offer.json
      as the hub says that it sent them
  hub-protocol explain hub.jsonl --password --hub-key hub.key
      asks for the password, and computes

A program records its sessions with recordClientSession or recordHubSession.
Recordings contain no secret. With the option ephemeralKey, a recording of a
failure has the key with which this command can compute the handshake again,
together with the password or the PSK, and a static key: then it says whether
the message that was refused is right, and with which PSK it opens.

Keys are files of 32 bytes, as they are, in hex or in base64. Nothing of them is
shown.
`,
  options: {
    hello: { type: 'string', argument: 'FILE', help: 'HELLO as the side has it that made no recording' },
    offer: { type: 'string', argument: 'FILE', help: 'the same of HANDSHAKE with the offer' },
    password: {
      type: 'boolean',
      help: 'ask for the password that both sides should have, or read it from standard input',
    },
    identity: { type: 'string', argument: 'FILE', help: 'take that password from the identity' },
    keyring: {
      type: 'string',
      argument: 'FILE',
      help: "the client's keyring, with its static key, PSK and pin",
    },
    psk: { type: 'string', argument: 'FILE', help: 'the PSK that the client used' },
    'hub-psk': { type: 'string', argument: 'FILE', help: 'the PSK that the hub has for this client' },
    'hub-key': { type: 'string', argument: 'FILE', help: "the hub's private static key" },
    'client-key': { type: 'string', argument: 'FILE', help: "the client's private static key" },
  },
  run: explainRecordings,
};

async function explainRecordings(args: Arguments): Promise<Result> {
  const evidence = await evidenceOf(args);
  const explanation = explain(evidence);
  draw(1, '');
  const status = STATUS[explanation.verdict];
  return { status, text: toText(explanation), json: { ...explanation, cause: explanation.cause ?? null } };
}

const WIDTH = 110; // characters

const STATUS: { readonly [verdict in Explanation['verdict']]: Status } = {
  'no-fault': 0,
  fault: 1,
  unknown: 3,
  unfinished: 3,
};

async function evidenceOf(args: Arguments): Promise<Evidence> {
  const { client, hub } = recordingsOf(args);
  const payload = (name: string, what: string): Evidence['hello'] => {
    const path = args.text(name);
    if (path === undefined) return undefined;
    if (client !== undefined && hub !== undefined) {
      throw new CannotRun(`--${name} is of the side that made no recording, and both did: leave it out`);
    }
    return readPayloadFile(path, what);
  };
  const key = (name: string, what: string): Uint8Array | undefined => {
    const path = args.text(name);
    return path === undefined ? undefined : readKeyFile(path, what);
  };
  const derive = (password: string, nodeId: string): Uint8Array =>
    deriveAtOnce(password, nodeId, 'deriving the PSK');
  const hello = payload('hello', 'the HELLO');
  const offer = payload('offer', 'the HANDSHAKE');
  const keyringPath = args.text('keyring');
  const keyring = keyringPath === undefined ? undefined : readAnyKeyring(keyringPath);
  const { nodeId } = new Case({ client, hub, hello, offer, derive });
  const isKnown = keyring !== undefined && nodeId !== undefined;
  const pin = isKnown ? findHub(keyring.pins, nodeId)?.key : undefined;
  const psk = isKnown ? findHub(keyring.psks, nodeId)?.key : undefined;
  return {
    client,
    hub,
    hello,
    offer,
    derive,
    password: await passwordOf(args),
    clientPsk: key('psk', 'the PSK') ?? psk,
    clientPin: pin && bytesToHex(pin),
    hubPsk: key('hub-psk', 'the PSK'),
    clientStatic: key('client-key', 'a private key') ?? keyring?.staticKey.privateKey,
    hubStatic: key('hub-key', 'a private key'),
  };
}

function recordingsOf(args: Arguments): { client: Recording | undefined; hub: Recording | undefined } {
  const paths = args.positionals;
  if (paths.length < 1 || paths.length > 2) throw new CannotRun('expected one or two recordings: see --help');
  const all = paths.map((path) => readRecording(path, readFile(path, 'the recording')));
  const [client, another] = all.filter(({ role }) => role === 'client');
  const [hub, second] = all.filter(({ role }) => role === 'hub');
  if (another !== undefined || second !== undefined) {
    throw new CannotRun('expected the recordings of a client and of a hub: these are of the same side');
  }
  return { client, hub };
}

async function passwordOf(args: Arguments): Promise<string | undefined> {
  const identity = args.text('identity');
  if (args.flag('password')) {
    if (identity !== undefined) throw new CannotRun('expected one of --password and --identity');
    return readPassword('Password that both sides should have');
  }
  return identity === undefined ? undefined : readIdentityFile(identity).password;
}

export function toText({ verdict, cause, happened, checked, wouldHelp }: Explanation): string {
  const lines: string[] = [];
  const list = (title: string, items: readonly string[]): void => {
    if (items.length > 0) lines.push('', title, ...items.map((item) => wrapped('  - ', item, WIDTH)));
  };
  if (verdict === 'no-fault') lines.push('The recording contains no failure.');
  else if (verdict === 'unfinished') lines.push('The recording ends in the middle of the handshake.');
  else if (cause === undefined) lines.push('I cannot tell why this handshake failed.');
  else lines.push(`CAUSE: ${cause.name} (${cause.certainty})`, wrapped('  ', `${cause.text}.`, WIDTH));
  list('What happened', happened);
  list('What was checked', checked);
  list('What would help', wouldHelp);
  return `${lines.join('\n')}\n`;
}
