/** `doctor`: goes the way of a client to its hub, a step at a time, and explains the first fault. */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { KeyringFile, type SocketOptions } from 'hub-protocol-client';
import { writeFileAtomically } from 'hub-protocol-client/atomic-file';
import { asSentence, type Place, tellingOf } from 'hub-protocol-client/causes';
import { routeTo } from 'hub-protocol-client/sockets';
import {
  authorizedUrl,
  brokerEndpoint,
  type Identity,
  type Keyring,
  parseIdentity,
  selectEndpoint,
  splitUrl,
  wrapped,
} from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { converse, type Greeting, nodeIdOf, offersOf, upgradeOf } from '../conversation.ts';
import {
  isLocalError,
  makeFolder,
  readIdentityFile,
  readKeyringFile,
  readSocketOptions,
  reasonOf,
} from '../files.ts';
import { hiding, hidingInJson } from '../hidden.ts';
import {
  type BrokerLimits,
  DOCTOR_NAME,
  Fault,
  logOn,
  openSocket,
  overWebSocket,
  resolveHost,
  type Server,
  secure,
  verify,
} from '../reach.ts';
import { inShellWords, keyringOf, TALK_OPTIONS, toShell } from '../talk.ts';

const PROTOCOLS = ['wss', 'https', 'mqtt'] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** The name of the program in what is checked of the address. */
const PROGRAM = 'hub-protocol';
const WIDTH = 80; // characters
const MOST = 8; // addresses of a host
const LONGEST_PACKET = 66_000; // bytes: a frame of 65,000 and its topic
const LONGEST_WAIT = 86_400; // seconds; timers of Node take no more than 25 days

export const DOCTOR: Command = {
  name: 'doctor',
  summary: 'find out why a client does not reach its hub',
  usage: 'doctor IDENTITY [URL] [options]',
  help: `\
Goes the way of a client to its hub, a step at a time: address, keyring, DNS,
TCP, TLS, upgrade, HELLO, access key, protocol, password, and the key of the
hub. It explains what fails, and what to do. Exits with 0 if nothing does.

  hub-protocol doctor kiosk.json
  hub-protocol doctor kiosk.json --ask "What time is it?"
  hub-protocol doctor kiosk.json wss://hub.local:5678 --ca hub.pem
      at another address, or another hub
  hub-protocol doctor kiosk.json --save seen      keeps HELLO and HANDSHAKE as
                                                  files, for psk and explain

It changes no keyring, and trusts no key. With the keyring of the client it goes
on until the hub has accepted the client's key. Without one it stops before the
hub learns a key, so the hub pins none. A hub that allows one connection for
each access key may close the device's. Over MQTT it looks at the broker, its
limits, the account and the topic; to greet the hub would end the session of
the device.
`,
  options: {
    ask: { type: 'string', argument: 'TEXT', help: 'ask the hub this at the end; needs the keyring' },
    keyring: {
      ...TALK_OPTIONS.keyring!,
      help: 'the keyring of the client (default: kiosk.keyring.json for kiosk.json, if there is one)',
    },
    ...{ ca: TALK_OPTIONS.ca!, cert: TALK_OPTIONS.cert!, key: TALK_OPTIONS.key! },
    protocol: {
      type: 'string',
      argument: 'NAME',
      help: 'wss, https or mqtt (default: the first in the identity)',
    },
    save: { type: 'string', argument: 'FOLDER', help: 'write hello.json and offer.json, as they came' },
    timeout: { type: 'string', argument: 'SECONDS', help: 'longest wait for each step (10)' },
    'allow-plaintext': {
      type: 'boolean',
      help: 'connect without TLS too, which shows the access key to the network',
    },
  },
  run: doctor,
};

/** What is examined. */
interface Subject {
  readonly identity: Identity;
  readonly keyring: Keyring | undefined;
  readonly keyringPath: string;
  readonly protocol: Protocol | undefined;
  readonly allowPlaintext: boolean;
  readonly socket: SocketOptions;
  readonly timeout: number;
  readonly question: string | undefined;
  readonly greeting: Greeting;
}

async function doctor(args: Arguments): Promise<Result> {
  const [path, url, third] = args.positionals;
  if (path === undefined || path.includes('://') || third !== undefined) {
    throw new CannotRun(
      'expected an identity, which has the access key, and after it at most one URL: see --help',
    );
  }
  const protocol = readProtocol(args.text('protocol'));
  if (url !== undefined && (protocol ?? 'wss') !== 'wss') {
    throw new CannotRun('a URL is the address of a WebSocket: leave --protocol out');
  }
  const issued = readIdentityFile(path);
  const identity = url === undefined ? issued : at(url, issued);
  const keyringPath = args.text('keyring') ?? keyringOf(path);
  const hasKeyring = args.text('keyring') !== undefined || existsSync(keyringPath);
  const subject: Subject = {
    identity,
    keyring: hasKeyring ? readKeyringFile(keyringPath, identity.accessKey) : undefined,
    keyringPath,
    protocol,
    allowPlaintext: args.flag('allow-plaintext'),
    socket: readSocketOptions(args, path),
    timeout: readTimeout(args.text('timeout')),
    question: args.text('ask'),
    greeting: {},
  };
  if (subject.question !== undefined && subject.keyring?.staticKey.privateKey === undefined) {
    throw new CannotRun(
      `--ask needs the keyring of the client with its private key, and ${keyringPath} is none: "ask" creates one`,
    );
  }
  const steps = new Steps();
  try {
    await examine(subject, steps);
  } catch (error) {
    if (!(error instanceof Fault) && !isLocalError(error)) throw error;
    const isLocal = !(error instanceof Fault);
    steps.fail(isLocal ? new Fault(error.code, asSentence(inShellWords(error))) : error, isLocal);
  }
  const folder = args.text('save');
  if (folder !== undefined) save(folder, subject.greeting);
  return report(steps, subject);
}

/** An identity for a hub at another address. Refuses a URL with credentials: other users can see the arguments of a program. */
function at(url: string, { accessKey, password, siteId }: Identity): Identity {
  const parts = splitUrl(url);
  if (parts === undefined) throw new CannotRun('expected a URL such as wss://hub.local:5678');
  if (parts.userinfo !== '' || /authorization/i.test(parts.query)) {
    throw new CannotRun(
      'the URL contains credentials: leave them out, the access key is taken from the identity',
    );
  }
  return parseIdentity({
    access_key: accessKey,
    password,
    site_id: siteId,
    data_plane_endpoints: { wss: url },
  });
}

function readProtocol(name: string | undefined): Protocol | undefined {
  const protocol = PROTOCOLS.find((known) => known === name);
  if (protocol === name) return protocol;
  throw new CannotRun('--protocol expects wss, https or mqtt');
}

function readTimeout(seconds = '10'): number {
  const timeout = Number(seconds) * 1000;
  if (timeout > 0 && timeout <= LONGEST_WAIT * 1000) return timeout;
  throw new CannotRun(`--timeout expects a number of seconds, at most ${LONGEST_WAIT}`);
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

interface Step {
  readonly step: string;
  state: 'passed' | 'fault' | 'not tried';
  text?: string;
  code?: string;
  platform_code?: string;
  /** What a client tells whoever stands in front of it, and who has to act. */
  tell?: string;
  who?: string;
}

/** The steps in their order, and what came of each. */
class Steps {
  #all: Step[] = [];

  get all(): readonly Step[] {
    return this.#all;
  }

  get fault(): Step | undefined {
    return this.#all.find(({ state }) => state === 'fault');
  }

  /** The steps that will be tried. */
  plan(...names: string[]): void {
    for (const step of names) this.#all.push({ step, state: 'not tried' });
  }

  /** The first step that has not passed. */
  get #next(): Step {
    return this.#all.find(({ state, text }) => state === 'not tried' && text === undefined)!;
  }

  #find(name: string): Step {
    return this.#all.find(({ step }) => step === name)!;
  }

  pass(name: string, text: string): void {
    Object.assign(this.#find(name), { state: 'passed', text });
  }

  /** Says why a step is not tried, although no other has failed. */
  skip(name: string, text: string): void {
    this.#find(name).text = text;
  }

  fail({ step, code, message, platformCode }: Fault, isLocal: boolean): void {
    const failed = step === undefined ? this.#next : this.#find(step);
    const text = toShell(message);
    Object.assign(failed, { state: 'fault', text, code, platform_code: platformCode });
    if (isLocal || ['address', 'limits', 'answer'].includes(failed.step)) return;
    const of = platformCode === undefined ? {} : { platformCode };
    const { tell, who } = tellingOf(
      { name: code === 'other' ? 'Error' : 'RemoteError', message, code, ...of },
      undefined,
    );
    Object.assign(failed, { tell, who });
  }
}

async function examine(subject: Subject, steps: Steps): Promise<void> {
  const { identity, keyring, allowPlaintext, question, greeting } = subject;
  steps.plan('address');
  const { server, protocol, tls } = locate(subject);
  const { host, port, place } = server;
  steps.pass('address', `${place.scheme}://${place.at}`);
  steps.plan('keyring');
  tryKeyring(subject, steps);
  steps.plan('DNS', 'TCP', 'TLS');
  if (protocol === 'mqtt') steps.plan('broker', 'limits', 'hub');
  else steps.plan(upgradeOf(protocol), 'greeting', 'access key', 'protocol', 'password', 'pin', 'session');
  if (question !== undefined) steps.plan('answer');

  const proxy = server.route.proxy && `the proxy at ${place.proxy!.at}`;
  const addresses = proxy === undefined ? await resolveHost(server) : [host];
  const isName = addresses[0] !== host;
  const reason = proxy === undefined ? 'it is an IP address' : `${proxy} resolves names`;
  steps.pass('DNS', isName ? `${host} is ${addresses.slice(0, MOST).join(', ')}` : `not needed: ${reason}`);
  const socket = await openSocket(server);
  steps.pass('TCP', `${proxy === undefined ? 'a server listens on' : `${proxy} connects to`} port ${port}`);
  let stream: Duplex = socket;
  if (tls) {
    const secured = await secure(socket, server);
    steps.pass('TLS', await verify(secured, server));
    stream = secured;
  } else steps.pass('TLS', 'none: anyone on the way can read the access key');

  if (protocol === 'mqtt') {
    const isWebSocket = place.scheme.startsWith('ws');
    if (isWebSocket) socket.destroy();
    let opened = isWebSocket ? undefined : stream;
    const open = async (): Promise<Duplex> => {
      const given = opened ?? (isWebSocket ? overWebSocket(server) : await openAgain(server, tls));
      opened = undefined;
      return given;
    };
    const limits = await logOn(open, identity, server);
    steps.pass('broker', 'it accepts the account, and its subscription to the client’s topic');
    steps.pass('limits', limitsText(limits));
    steps.skip('hub', 'to greet it over MQTT would end the session of the device');
    return;
  }
  socket.destroy();
  const hide = hiding(identity.accessKey);
  const pass = (step: string, text: string): void => steps.pass(step, text);
  await converse({ identity, protocol, server, allowPlaintext, keyring, question, greeting, hide, pass });
  if (keyring?.staticKey.privateKey === undefined) steps.skip('session', withoutKeyring(subject));
}

/** Opens the keyring as a client does, which tries a write unless a hub is pinned in it. What fails stops no other step. */
function tryKeyring({ identity: { accessKey }, keyring, keyringPath }: Subject, steps: Steps): void {
  const path = keyring === undefined ? `${keyringPath}.doctor-${process.pid}` : keyringPath;
  const user = process.getuid?.(); // Windows has none
  if (keyring !== undefined && user !== undefined && statSync(path).uid !== user) {
    steps.skip('keyring', 'it belongs to another user: run this as that one');
    return;
  }
  try {
    new KeyringFile(path, accessKey);
    steps.pass('keyring', keyring === undefined ? 'a client can store one here' : 'a client can use it');
  } catch (error) {
    if (!isLocalError(error)) throw error;
    steps.fail(new Fault(error.code, asSentence(error.message), { step: 'keyring' }), true);
  } finally {
    if (keyring === undefined && existsSync(path)) rmSync(path);
  }
}

async function openAgain(server: Server, tls: boolean): Promise<Duplex> {
  const socket = await openSocket(server);
  if (!tls) return socket;
  const secured = await secure(socket, server);
  await verify(secured, server);
  return secured;
}

/** @throws Fault if a client's longest frame is longer than the broker allows */
function limitsText(limits: BrokerLimits): string {
  if (limits === undefined) return 'a broker of MQTT 3.1.1 does not tell them';
  const { maximumPacketSize: size = Infinity, maximumQoS: qos = 2, retainAvailable = true } = limits;
  if (size < LONGEST_PACKET)
    throw new Fault(
      'broker-refused',
      `The broker takes packets of at most ${size} bytes, and refuses longer messages. Ask its operator to allow packets of 66 kB.`,
      { step: 'limits' },
    );
  const found = [size < Infinity && `packets of at most ${size} bytes`, qos < 2 && `QoS of at most ${qos}`];
  return [...found, !retainAvailable && 'nothing retained'].filter(Boolean).join(', ') || 'none';
}

/** Where the client connects. */
function locate({ identity, protocol: requested, allowPlaintext, socket, timeout }: Subject): {
  readonly server: Server;
  readonly protocol: Protocol;
  readonly tls: boolean;
} {
  const { protocol, url, tls } = selectEndpoint(identity, { requested, allowPlaintext });
  if (protocol === 'wss') authorizedUrl(url, PROGRAM, identity.accessKey, { allowPlaintext }); // checks the address
  const address = url.replace(/^[^:]+/, 'https'); // other schemes have weaker rules for hosts
  if (!URL.canParse(address)) throw new Fault('bad-endpoint', 'The address has a host that no URL can have.');
  const { hostname } = new URL(address);
  const { scheme, port = scheme === 'wss' || scheme === 'https' ? 443 : 80 } =
    protocol === 'mqtt'
      ? { ...splitUrl(url)!, ...brokerEndpoint(identity.mqtt!, { allowPlaintext }) }
      : splitUrl(url)!;
  const host = hostname.replace(/^\[|\]$/g, '');
  const partner = protocol === 'mqtt' ? 'broker' : 'hub';
  const route = routeTo(url, { socket, userAgent: DOCTOR_NAME }, timeout, partner);
  const place: Place = { ...route.place, scheme, host: hostname, at: `${hostname}:${port}` };
  return { server: { place, host, port, url, socket, route, timeout }, protocol, tls };
}

/** Why the hub was not asked whether it accepts the client's key, and what it seems to know. */
function withoutKeyring({ greeting, keyring }: Subject): string {
  const { patterns = [] } = offersOf(greeting, keyring);
  const why = keyring === undefined ? 'there is no keyring here' : 'this keyring has no private key';
  return patterns.includes('KKpsk0')
    ? `${why}, and the hub has pinned a client’s key: connect with the keyring that has it`
    : `${why}; the hub has pinned no client’s key yet`;
}

const MARKS = { passed: 'ok', fault: 'FAULT', 'not tried': '-' };

function report(steps: Steps, { identity, keyring, greeting }: Subject): Result {
  const hide = hiding(identity.accessKey);
  const lines = steps.all.map(({ step, state, text = 'not tried', code, platform_code }) => {
    const codes = [code, platform_code].filter((one) => one !== undefined).join(', ');
    const start = `${MARKS[state].padEnd(7)}${step.padEnd(12)}`;
    return wrapped(start, codes === '' ? text : `${text} (${codes})`, WIDTH);
  });
  const { fault } = steps;
  if (fault === undefined) {
    const untried = steps.all.filter(({ state }) => state === 'not tried').map(({ step }) => step);
    const end = untried.length === 0 ? 'No fault was found.' : 'All steps that were tried have passed.';
    lines.push('', untried.length === 0 ? end : `${end} Not tried: ${untried.join(', ')}.`);
  }
  if (fault?.tell !== undefined) lines.push('', wrapped('A client says: ', fault.tell, WIDTH));
  const hideInJson = hidingInJson(identity.accessKey);
  const nodeId = nodeIdOf(greeting);
  const { patterns, suites, chosen } = offersOf(greeting, keyring);
  const json = {
    fault,
    steps: steps.all,
    node_id: nodeId && hide(nodeId),
    patterns: patterns?.map(hide),
    suites: suites?.map(hide),
    chosen,
    hello: greeting.hello && hideInJson(greeting.hello.text),
    offer: greeting.offer && hideInJson(greeting.offer.text),
  };
  return { status: fault === undefined ? 0 : 1, text: `${lines.join('\n')}\n`, json };
}
