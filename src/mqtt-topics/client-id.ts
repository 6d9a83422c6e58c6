/** The name under which a client connects to the broker. */
import { assertString } from '../bytes.ts';
import { MAX_CLIENT_ID_KEY } from '../limits.ts';

/** A character not allowed in client ids. One above U+FFFF is two units in most engines, and one unit in some. */
const OTHER = /[\ud800-\udbff][\udc00-\udfff]|[^A-Za-z0-9_-]/g;

/**
 * Returns `<name>-<access key>`, with a hyphen for each character of the access key other than letters of ASCII, digits,
 * `_` and `-`, and at most 48 characters of it.
 *
 * The client id is the same at every start, so the broker ends a client's old, half-dead connection and publishes its
 * will before it accepts the new one. With random ids that will comes late, and ends the new session.
 * @param name - of the program; used as it is
 * @throws LocalError `bad-argument`
 */
export function clientId(name: string, accessKey: string): string {
  assertString(name, 'name');
  assertString(accessKey, 'accessKey');
  return `${name}-${accessKey.replace(OTHER, '-').slice(0, MAX_CLIENT_ID_KEY)}`;
}
