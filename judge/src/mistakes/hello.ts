/** Fields that a client's sealed HELLO lacks. */
import { isJsonObject, type Json } from '../protocol.ts';
import type { Causes } from '../verdict.ts';

/** The mistakes in a HELLO; none if it has all fields that a hub needs. */
export function mistakesInHello(value: unknown): Causes {
  const { msg_type: type, payload } = (value ?? {}) as { msg_type?: unknown; payload?: Json };
  const fields = isJsonObject(payload) ? payload : {};
  const { session, site_id: siteId, pubkey } = fields;
  const sessionId = isJsonObject(session) ? session.session_id : undefined;
  // Clients without an RSA key send an empty string, or null.
  const lacks = Object.entries({
    pubkey: pubkey === null ? '' : pubkey,
    'session.session_id': sessionId,
    site_id: siteId,
  })
    .filter(([, field]) => typeof field !== 'string')
    .map(([name]) => name);
  if (type !== 'hello') return ['HELLO: the first sealed message of a client has msg_type hello'];
  return lacks.length === 0 ? [] : [`HELLO: the sealed HELLO lacks ${lacks.join(', ')}`];
}
