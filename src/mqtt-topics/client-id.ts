/** The name under which a client is connected to the broker. */
import { assertString } from '../bytes.ts';
import { MAX_CLIENT_ID_KEY } from '../limits.ts';

/** A character that has no place in a client id; beyond U+FFFF it is two units in most engines, and one in some. */
const OTHER = /[\ud800-\udbff][\udc00-\udfff]|[^A-Za-z0-9_-]/g;

/**
 * The same client id at every start: a broker then ends a client's old, half-dead connection, and publishes its will,
 * before the new one counts. With ids at random that will comes late, and ends the new session.
 * @param name - of the program
 * @throws LocalError `bad-argument`
 */
export function clientId(name: string, accessKey: string): string {
  assertString(name, 'name');
  assertString(accessKey, 'accessKey');
  return `${name}-${accessKey.replace(OTHER, '-').slice(0, MAX_CLIENT_ID_KEY)}`;
}
