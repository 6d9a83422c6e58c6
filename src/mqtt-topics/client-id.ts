/** The name under which a client connects to the broker. */
import { assertString } from '../arguments.ts';
import { MAX_CLIENT_ID_KEY } from '../limits.ts';

/**
 * Returns `<name>-<access key>`. Each character of the access key other than an ASCII letter, a digit, `_` and `-`
 * becomes a hyphen, and only the first 48 characters are used.
 *
 * The client id is the same at every start, so the broker closes a half-dead old connection of this client and
 * publishes its will before it accepts the new one. With random ids the will would come late, and end the new session.
 * @param name - the program's name, used as it is
 * @param accessKey - `identity.accessKey`
 * @returns the client id
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { clientId } from 'hub-protocol';
 *
 * console.log(clientId('kiosk', 'a/b')); // kiosk-a-b
 */
export function clientId(name: string, accessKey: string): string {
  assertString(name, 'name');
  assertString(accessKey, 'accessKey');
  // A character above U+FFFF is two units in most engines, and one unit in some.
  const key = accessKey.replace(/[\ud800-\udbff][\udc00-\udfff]|[^A-Za-z0-9_-]/g, '-');
  return `${name}-${key.slice(0, MAX_CLIENT_ID_KEY)}`;
}
