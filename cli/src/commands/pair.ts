/** `pair`: gives an identity and the key of its hub to a page or an app, as a QR code. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  bytesToHex,
  fingerprint,
  hexToBytes,
  type Keyring,
  nodeCrypto,
  selectEndpoint,
} from 'hub-protocol-judge/internals';
import { renderUnicodeCompact } from 'uqr';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { readAnyKeyring, readAs, readIdentityFile } from '../files.ts';
import { shown } from '../shown.ts';
import { NODE_ID, readStored } from './hub.ts';
import { readPin } from './provision.ts';

export const PAIR: Command = {
  name: 'pair',
  summary: 'show a QR code that opens a page with an identity and the key of its hub',
  usage: 'pair IDENTITY PAGE [options]',
  help: `\
Shows a QR code of the address PAGE, which ends with the identity and the public
key of its hub. The page or app that a person opens with it accepts no other
hub, even at first contact. Everything after # stays in the browser.

  hub-protocol pair hub/identity.json https://kiosk.example/chat.html
  hub-protocol pair kiosk.json myapp://pair --keyring other.keyring.json

The key of the hub is taken from --pin, from the keyring of any client that has
pinned the hub, or from hub.json next to the identity, if "hub" has written it.

The code is a secret, since it has the password: nobody else may see or
photograph it. Clear the screen when it has been read. An identity is for one
client: the hub accepts the first that connects with it, and no other.
`,
  options: {
    keyring: { type: 'string', argument: 'FILE', help: 'take the key of the hub from this keyring' },
    pin: {
      type: 'string',
      argument: 'ID=KEY',
      help: 'the node id and the public key of the hub, 64 hex digits',
    },
    lang: { type: 'string', argument: 'TAG', help: 'the language of the AI disclosure (default en-us)' },
    'allow-plaintext': { type: 'boolean', help: 'accept a hub without TLS' },
  },
  run: pair,
};

const BORDER = 2; // modules

function pair(args: Arguments): Result {
  const [file, page, third] = args.positionals;
  if (file === undefined || page === undefined || third !== undefined)
    throw new CannotRun('expected the file of an identity and the address of a page: see --help');
  assertPage(page);
  const identity = readIdentityFile(file);
  const pin = pinOf(args, join(dirname(file), 'hub.json'));
  const allowPlaintext = args.flag('allow-plaintext');
  const { url } = readAs(file, () => selectEndpoint(identity, { requested: 'wss', allowPlaintext }));
  const { aiDisclosure } = identity;
  const lang = /^fr\b/i.test(args.text('lang') ?? 'en-us') ? 'fr' : 'en'; // the code has room for one text
  const disclosure = typeof aiDisclosure === 'object' ? aiDisclosure[lang] : aiDisclosure;
  const fields = new URLSearchParams({
    access_key: identity.accessKey,
    password: identity.password,
    site_id: identity.siteId,
    default_master: url,
    ...(disclosure !== undefined && { lang, ai_disclosure: disclosure }),
    hub_id: pin.nodeId,
    hub_key: Buffer.from(pin.key).toString('base64'),
  });
  const link = `${page}#${fields}`;
  const code = renderUnicodeCompact(link, { ecc: 'L', border: BORDER });
  const width = code.indexOf('\n');
  const columns = process.stdout.columns ?? Number.POSITIVE_INFINITY;
  if (width > columns)
    throw new CannotRun(
      `the code has ${width} columns, and this terminal ${columns}: make it wider, or take the link from --json`,
    );
  const key = fingerprint(pin.key);
  const text = `${code}\n\nA secret: it holds the password. The hub is ${shown(pin.nodeId)}, and its key ${key}.\n`;
  return {
    status: 0,
    text,
    json: { link, node_id: pin.nodeId, hub_key: bytesToHex(pin.key), fingerprint: key },
  };
}

/** The code leads the password to the page, which nobody on the way may replace. */
function assertPage(page: string): void {
  let url: URL | undefined;
  try {
    url = new URL(page);
  } catch {} // told below
  if (url === undefined)
    throw new CannotRun(`${shown(page)} is not the address of a page: write it with https://`);
  if (page.includes('#'))
    throw new CannotRun(`the address of the page must end before #: the code goes there`);
  if (url.protocol === 'http:' && !/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname))
    throw new CannotRun(
      'a page without TLS gets no password, since anyone on the way could replace it: write https://',
    );
}

/** @param own - the path of the keys of a hub that `hub` runs */
function pinOf(args: Arguments, own: string): Keyring['pins'][number] {
  const [pin, path] = [args.text('pin'), args.text('keyring')];
  if (pin !== undefined) return readPin(pin);
  if (path !== undefined) {
    const { pins } = readAnyKeyring(path);
    if (pins.length !== 1)
      throw new CannotRun(
        `${path} has the keys of ${pins.length} hubs, and the code takes one: name it with --pin ID=KEY`,
      );
    return pins[0]!;
  }
  if (!existsSync(own))
    throw new CannotRun(
      'expected the key of the hub: --keyring of a client that has pinned it, or --pin ID=KEY',
    );
  const { staticKey, clientKey } = readStored(own);
  if (clientKey !== undefined)
    throw new CannotRun(
      `another client uses this identity: its key is in ${own}. To pair a page instead, remove clientKey there, and start the hub again`,
    );
  return { nodeId: NODE_ID, key: new Uint8Array(nodeCrypto.x25519.publicKey(hexToBytes(staticKey)!)) };
}
