/** The name under which a client is connected to the broker. */
import { assertText } from '../bytes.ts';
import { MAX_CLIENT_ID_KEY } from '../limits.ts';

/**
 * The same client id at every start: a broker then ends a client's old, half-dead connection, and publishes its will,
 * before the new one counts. With ids at random that will comes late, and ends the new session.
 * @param name - of the program
 * @throws LocalError `bad-argument`
 */
export function clientId(name: string, accessKey: string): string {
  assertText(name, 'name');
  assertText(accessKey, 'accessKey');
  return `${name}-${accessKey.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, MAX_CLIENT_ID_KEY)}`;
}
