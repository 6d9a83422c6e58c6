/** Session ids as hubs return them. */
import { isBlank } from './white-space.ts';

/**
 * Whether two session ids name the same session. To keep its clients apart, a hub may rewrite every id
 * to `<namespace>:<declared>`. So the ids match if they are equal, or if
 * everything after the first colon of the returned id equals the declared one. Never throws.
 * @param declared - the id that was sent
 * @param returned - the id that an event carries
 * @returns false if either is missing or blank
 *
 * @example
 * import { sessionIdsMatch } from 'hub-protocol/parts';
 *
 * console.log(sessionIdsMatch('lobby', 'c7f1::lobby'), sessionIdsMatch('lobby', 'c7f1:lobby')); // false true
 */
export function sessionIdsMatch(declared: string | undefined, returned: string | undefined): boolean {
  if (typeof declared !== 'string' || typeof returned !== 'string' || isBlank(declared)) return false;
  return returned === declared || returned.slice(returned.indexOf(':') + 1) === declared;
}
