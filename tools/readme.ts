/** Draws the two tables of README.md: the events that every client handles, and the errors that people meet first. */
import type { ErrorCode } from '../src/errors.ts';
import { LOCAL_ERRORS, REMOTE_ERRORS } from '../src/errors-table.ts';
import { code, type Drawn, pageWith, table } from './draw.ts';
import { usualEvents } from './events.ts';

const FIRST: readonly ErrorCode[] = [
  'access-refused',
  'psk-differs',
  'hub-key-changed',
  'client-key-refused',
  'unavailable',
  'crypto-failed',
];

function firstErrors(): string {
  const rows: { readonly [name: string]: { readonly means: string } } = { ...LOCAL_ERRORS, ...REMOTE_ERRORS };
  return table(
    ['Code', 'Cause'],
    FIRST.map((name) => [code(name), rows[name]!.means]),
  );
}

export function readme(): Drawn {
  return pageWith('README.md', { events: usualEvents(), errors: firstErrors() });
}
