/** `redact`: shows an identity or a keyring without its secrets. */

import { parseIdentity, parseKeyring, redactIdentity } from 'hub-protocol-judge/internals';
import type { Arguments, Command, Result } from '../command.ts';
import { ownerOfKeyring, readAs, readFile } from '../files.ts';
import { summarize, summaryToText } from '../summary.ts';

export const REDACT: Command = {
  name: 'redact',
  summary: 'show an identity or a keyring without its secrets',
  usage: 'redact FILE [options]',
  help: `\
Shows what may be shown of an identity or a keyring, for a report or a question
to somebody else. Of fields that it does not know it shows the names only. FILE
may be - for standard input.

  hub-protocol redact kiosk.json
  hub-protocol redact kiosk.keyring.json --json
`,
  options: {},
  run: redact,
};

function redact(args: Arguments): Result {
  const path = args.only('file of an identity or a keyring');
  const contents = readFile(path, 'the identity or keyring');
  const keyringOwner = ownerOfKeyring(contents);
  if (keyringOwner !== undefined) {
    const summary = readAs(path, () => summarize(parseKeyring(contents, keyringOwner)));
    return { status: 0, text: summaryToText(summary), json: summary };
  }
  const redacted = readAs(path, () => redactIdentity(parseIdentity(contents)));
  return { status: 0, text: `${JSON.stringify(redacted, undefined, 2)}\n`, json: redacted };
}
