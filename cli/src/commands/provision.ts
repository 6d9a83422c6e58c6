/** `provision`: makes the keyring of a device from its identity. */
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { deriveWithProgress } from '../derive.ts';
import { assertPrivate, readFile, readIdentityFile, readKeyringFile, writePrivate } from '../files.ts';
import { nodeIdOfFile } from '../payloads.ts';
import {
  createKeyring,
  hexToBytes,
  isLowOrder,
  type Keyring,
  LocalError,
  nodeCrypto,
  randomBytes,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../protocol.ts';
import { shown } from '../shown.ts';
import { summarize, summaryToText } from '../summary.ts';

export const PROVISION: Command = {
  name: 'provision',
  summary: 'make the keyring of a device: static key, PSKs, pins',
  usage: 'provision IDENTITY --out FILE [--hub ID]… [--pin ID=KEY]… [options]',
  help: `\
Makes the keyring that a device stores beside its identity: a new static key, the PSK for each hub that you name, and
pins if you know the hubs' keys. A device with such a keyring never derives a PSK, and accepts no other key of a hub that
is pinned.

  hub-protocol provision kiosk.json --out kiosk.keyring.json --hub hub-1
  hub-protocol provision kiosk.json --out kiosk.keyring.json --hub hub-1 --pin hub-1=6c4a…91
  hub-protocol provision kiosk.json --keyring old.json --out new.json --hub hub-2     adds a hub, and keeps the static key

The password is taken from the identity. The keyring contains every secret of the device. It is written with mode 0600
and never where others may write; an existing file is replaced with --force only. A static key is made once: hubs pin it,
and a client with another one is locked out until their operators reset it. What is printed contains no secret.
`,
  options: {
    out: { type: 'string', argument: 'FILE', help: 'where to write the keyring' },
    hub: {
      type: 'string',
      multiple: true,
      argument: 'ID',
      help: 'derive the PSK for the hub with this node id',
    },
    hello: {
      type: 'string',
      multiple: true,
      argument: 'FILE',
      help: 'the same, with the node id of this HELLO',
    },
    pin: {
      type: 'string',
      multiple: true,
      argument: 'ID=KEY',
      help: 'pin this public key of a hub, 64 hex digits',
    },
    keyring: { type: 'string', argument: 'FILE', help: 'start from this keyring, and keep its static key' },
    force: { type: 'boolean', help: 'replace an existing file' },
  },
  run: provision,
};

function provision(args: Arguments): Result {
  const source = args.only('file of an identity');
  const out = args.text('out');
  if (out === undefined) throw new CannotRun('expected --out FILE: where to write the keyring');
  const identity = readIdentityFile(source);
  const pins = args.texts('pin').map(readPin);
  const hubs = new Set([...args.texts('hub'), ...args.texts('hello').map(nodeIdOfFile)]);
  if (hubs.has('')) throw new CannotRun('--hub expects a node id, got nothing');
  const base = args.text('keyring');
  // A program that runs with this keyring may store a pin in it during the slow part.
  const before = base === out ? Buffer.from(readFile(out, 'the keyring')).toString() : undefined;
  let keyring: Keyring =
    base === undefined
      ? createKeyring({ accessKey: identity.accessKey, staticKey: randomBytes(32), crypto: nodeCrypto })
      : readKeyringFile(base, identity.accessKey);
  for (const { nodeId, key } of pins) keyring = addPin(keyring, nodeId, key);
  assertPrivate(out, args.flag('force')); // before the slow part
  for (const nodeId of hubs) {
    const psk = deriveWithProgress(identity.password, nodeId, `PSK for ${shown(nodeId)}`);
    keyring = storePsk(keyring, nodeId, psk, { isProvisioned: true });
  }
  writePrivate(out, `${serializeKeyring(keyring)}\n`, args.flag('force'), before);
  const summary = summarize(keyring);
  return {
    status: 0,
    text: `${summaryToText(summary)}written to  ${out}, which only its owner can read\n`,
    json: { file: out, site_id: identity.siteId, ...summary },
  };
}

/** The key stands after the last `=`: a node id may contain others. */
function readPin(pin: string): { nodeId: string; key: Uint8Array } {
  const at = pin.lastIndexOf('=');
  const key = hexToBytes(pin.slice(at + 1));
  if (at < 1 || key?.length !== 32) {
    throw new CannotRun('--pin expects a node id, =, and a public key as 64 hex digits');
  }
  if (isLowOrder(key)) throw new CannotRun('--pin got a key that no hub can have: copy it again');
  return { nodeId: pin.slice(0, at), key };
}

function addPin(keyring: Keyring, nodeId: string, key: Uint8Array): Keyring {
  try {
    return updateKeyring(keyring, { type: 'pin', nodeId, key: new Uint8Array(key) });
  } catch (error) {
    if (!(error instanceof LocalError) || error.code !== 'pin-differs') throw error;
    throw new CannotRun(
      `two different pins for ${shown(nodeId)}: make sure which is right, and start from a keyring without the other`,
    );
  }
}
