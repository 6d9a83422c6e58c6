/** `provision`: makes the keyring of a device from its identity, and resolves its connection. */

import { existsSync } from 'node:fs';
import {
  createKeyring,
  equalBytes,
  findHub,
  hexToBytes,
  type Identity,
  isLowOrder,
  type Keyring,
  nextSlots,
  nodeCrypto,
  randomBytes,
  serializeChanges,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { connectionOf } from '../connection.ts';
import { deriveWithProgress } from '../derive.ts';
import {
  assertPrivate,
  nodeIdOfFile,
  placeOf,
  readAs,
  readFile,
  readKeyringFile,
  readOrIssueIdentity,
  writePrivate,
} from '../files.ts';
import { shown } from '../shown.ts';
import { summarize, summaryToText } from '../summary.ts';

export const PROVISION: Command = {
  name: 'provision',
  summary: 'make what a device stores: its keyring, and how it connects',
  usage: 'provision IDENTITY --out FILE [--hub ID]… [--pin ID=KEY]… [options]',
  help: `\
Makes the keyring that a device stores: a new static key, the PSK for each hub
that you name, and pins if you know the hubs' keys. A device with such a keyring
never derives a PSK, and accepts no other key of a hub that is pinned.

With --connection, it also writes how the device connects, so that the device
need not read its identity: access_key, site_id, and url, the WebSocket URL with
its authorization. If the hub serves MQTT only, or with --mqtt, mqtt stands in
place of url: broker, username, password, client_id, and the topics publish,
subscribe and status.

With --slot, it also writes what changes in the keyring, as the text for both
slots of the device's store. The device then never writes the keyring itself.

  hub-protocol provision kiosk.json --out kiosk.keyring.json --hub hub-1
  hub-protocol provision kiosk.json --out kiosk.keyring.json --hub hub-1 \\
      --connection kiosk.connection.json --slot kiosk.slot.txt
  hub-protocol provision kiosk.json --out kiosk.keyring.json --hub hub-1 \\
      --pin hub-1=6c4a…91
  hub-protocol provision kiosk.json --keyring old.json --out new.json \\
      --hub hub-2
                      adds a hub, and keeps the static key

A bridge, or any program on a machine that may be stolen, needs no password
either: give it this keyring, and an identity in which any other text stands for
the password. A thief then has this client at these hubs, not the password.

The password is taken from the identity. If that has none, it gets one of 144
random bits, which nobody can guess: give the hub the same. All files contain
secrets of the device. They are written with mode 0600 and never where others
may write; an existing file is replaced with --force only. A static key is made
once: hubs pin it, and a client with another one is locked out until their
operators reset it.
What is printed contains no secret.
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
    connection: { type: 'string', argument: 'FILE', help: 'where to write how the device connects' },
    slot: { type: 'string', argument: 'FILE', help: 'where to write the text for both slots' },
    mqtt: {
      type: 'boolean',
      help: 'the device connects over MQTT (default: over WebSocket, if the hub serves it)',
    },
    name: {
      type: 'string',
      argument: 'NAME',
      help: 'the name of the program, which the hub or the broker sees (client)',
    },
    'allow-plaintext': { type: 'boolean', help: 'accept an address without TLS' },
    force: { type: 'boolean', help: 'replace existing files' },
  },
  run: provision,
};

async function provision(args: Arguments): Promise<Result> {
  const source = args.only('file of an identity');
  const out = args.text('out');
  if (out === undefined) throw new CannotRun('expected --out FILE: where to write the keyring');
  const { identity, issued } = readOrIssueIdentity(source);
  const connection = readConnection(args, identity);
  const slot = args.text('slot');
  const paths = [out, connection?.path, slot].filter((path) => path !== undefined);
  const places = new Set([source, ...paths].map((path) => placeOf(path))); // however each was written
  if (places.size <= paths.length) {
    throw new CannotRun(
      'the identity, --out, --connection and --slot have a file in common: name each another',
    );
  }
  const pins = args.texts('pin').map(readPin);
  const hubs = new Set([...args.texts('hub'), ...args.texts('hello').map(nodeIdOfFile)]);
  if (hubs.has('')) throw new CannotRun('--hub expects a node id, got nothing');
  const base = args.text('keyring');
  // A program that runs with this keyring may store a pin in it during the slow part.
  const isSame = base !== undefined && existsSync(base) && placeOf(base) === placeOf(out);
  const before = isSame ? Buffer.from(readFile(out, 'the keyring')).toString() : undefined;
  let keyring: Keyring =
    base === undefined
      ? createKeyring({ accessKey: identity.accessKey, staticKey: randomBytes(32), crypto: nodeCrypto })
      : readKeyringFile(base, identity.accessKey);
  for (const { nodeId, key } of pins) keyring = readAs(out, () => addPin(keyring, nodeId, key));
  const isForced = args.flag('force');
  for (const path of paths) assertPrivate(path, isForced); // before the slow part
  if (issued !== undefined) writePrivate(source, issued.text, true, issued.before);
  for (const nodeId of hubs) {
    const psk = await deriveWithProgress(identity.password, nodeId, `PSK for ${shown(nodeId)}`);
    keyring = readAs(out, () => storePsk(keyring, nodeId, psk, { isProvisioned: true }));
  }
  if (connection !== undefined) writePrivate(connection.path, connection.text, isForced);
  if (slot !== undefined) writePrivate(slot, nextSlots([], serializeChanges(keyring))[0]!.text, isForced);
  writePrivate(out, `${serializeKeyring(keyring)}\n`, isForced, before);
  const summary = summarize(keyring);
  return {
    status: 0,
    text: `${summaryToText(summary)}written to  ${paths.join(' and ')}, readable by their owner only\n${issued ? `the new password is in ${source}: give the hub the same\n` : ''}`,
    json: {
      file: out,
      connection_file: connection?.path,
      slot_file: slot,
      site_id: identity.siteId,
      ...summary,
    },
  };
}

/** The file to write for --connection, if it was given. */
function readConnection(args: Arguments, identity: Identity): { path: string; text: string } | undefined {
  const path = args.text('connection');
  if (path === undefined) return undefined;
  const connection = readAs(args.positionals[0]!, () =>
    connectionOf(identity, {
      name: args.text('name') ?? 'client',
      requested: args.flag('mqtt') ? 'mqtt' : undefined,
      allowPlaintext: args.flag('allow-plaintext'),
    }),
  );
  return { path, text: `${JSON.stringify(connection, undefined, 2)}\n` };
}

/** The key comes after the last `=`: a node id may contain others. */
export function readPin(pin: string): Keyring['pins'][number] {
  const at = pin.lastIndexOf('=');
  const key = hexToBytes(pin.slice(at + 1));
  if (at < 1 || key?.length !== 32) {
    throw new CannotRun('--pin expects a node id, =, and a public key as 64 hex digits');
  }
  if (isLowOrder(key)) throw new CannotRun('--pin got a key that no hub can have: copy it again');
  return { nodeId: pin.slice(0, at), key: new Uint8Array(key) };
}

function addPin(keyring: Keyring, nodeId: string, key: Uint8Array): Keyring {
  const pinned = findHub(keyring.pins, nodeId)?.key ?? key;
  if (!equalBytes(pinned, key)) {
    throw new CannotRun(
      `two different pins for ${shown(nodeId)}: make sure which is right, and start from a keyring without the other`,
    );
  }
  return updateKeyring(keyring, { type: 'pin', nodeId, key: new Uint8Array(key) });
}
