/** Session ids as hubs return them. */
import { isBlank } from './white-space.ts';

/**
 * Whether an event's session is the one that was declared. A hub keeps the sessions of its clients apart by rewriting
 * each id to `<namespace>:<declared>`, with a namespace that is new with every connection. So it is the same session
 * where the two ids are equal, or where the declared one is all that follows the first colon of the other.
 * @param declared - the id that was sent
 * @param returned - the id that came back
 * @returns false also where either is no id: absent, or blank
 */
export function sessionIdsMatch(declared: string | undefined, returned: string | undefined): boolean {
  if (typeof declared !== 'string' || typeof returned !== 'string' || isBlank(declared)) return false;
  return returned === declared || returned.slice(returned.indexOf(':') + 1) === declared;
}
