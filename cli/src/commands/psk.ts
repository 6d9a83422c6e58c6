/** `psk`: derives the pre-shared key of a client and a hub. */

import { bytesToBase64, bytesToHex } from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { deriveWithProgress } from '../derive.ts';
import { nodeIdOfFile, readIdentityFile } from '../files.ts';
import { readPassword } from '../password.ts';
import { shown } from '../shown.ts';

const FORMATS: ReadonlyMap<string, (bytes: Uint8Array) => string> = new Map([
  ['hex', bytesToHex],
  ['base64', bytesToBase64],
]);

export const PSK: Command = {
  name: 'psk',
  summary: 'derive the PSK of a password at a hub',
  usage: 'psk (--node-id ID | --hello FILE) [options]',
  help: `\
Derives the 32 bytes that a client with this password shares with this hub:
Argon2id with 64 MiB, which takes about a second here and a minute on a small
device. Give the result to a device with too little memory, as its PSK.

The password is asked for, without echo, or read from standard input. It is
never an argument, because other users can see the arguments of a program. The
output is a secret like the password: it opens every session with this hub.

  hub-protocol psk --node-id hub-1
      asks for the password
  hub-protocol psk --node-id hub-1 < password.txt
      reads it, without the line feed at its end
  hub-protocol psk --node-id hub-1 --identity kiosk.json
  hub-protocol psk --hello seen/hello.json
      takes a long node id from what "doctor --save seen" saved

A hub's node id is whatever it says in its HELLO, byte for byte: a line feed at
its end counts.
`,
  options: {
    'node-id': { type: 'string', argument: 'ID', help: 'the node id of the hub' },
    hello: { type: 'string', argument: 'FILE', help: 'a file with the HELLO of the hub, or its payload' },
    identity: { type: 'string', argument: 'FILE', help: 'an identity with the password' },
    format: { type: 'string', argument: 'NAME', help: 'hex (default) or base64' },
  },
  run: psk,
};

async function psk(args: Arguments): Promise<Result> {
  if (args.positionals.length > 0) {
    throw new CannotRun(
      'expected no arguments but options: the password is asked for, and --node-id names the hub',
    );
  }
  const format = args.text('format') ?? 'hex';
  const encode = FORMATS.get(format);
  if (encode === undefined) throw new CannotRun(`--format expects hex or base64, got ${format}`);
  const nodeId = readNodeIdOption(args);
  const identity = args.text('identity');
  const password =
    identity === undefined
      ? await readPassword(`Password of the client at ${shown(nodeId)}`)
      : readIdentityFile(identity).password;
  const derived = encode(await deriveWithProgress(password, nodeId, 'deriving the PSK'));
  return { status: 0, text: `${derived}\n`, json: { node_id: nodeId, format, psk: derived } };
}

function readNodeIdOption(args: Arguments): string {
  const nodeId = args.text('node-id');
  const hello = args.text('hello');
  if ((nodeId === undefined) === (hello === undefined) || nodeId === '') {
    throw new CannotRun('expected one of --node-id ID and --hello FILE: see --help');
  }
  return nodeId ?? nodeIdOfFile(hello!);
}
