/** Reads an identity that was issued. Spec, "Client identity". */

import { readArgument } from '../arguments.ts';
import { hideFields } from '../hide-fields.ts';
import { type Fields, isObject } from '../issued/fields.ts';
import { opaque } from '../opaque.ts';
import type { Identity } from './identity.ts';
import { readIdentity } from './read-identity.ts';
import { redactIdentity } from './redact.ts';

/**
 * Reads an identity. Each field is recognized under every name under which it has been issued. `null` counts as absent,
 * and optional fields have defaults.
 *
 * Only the access key and the password are required. Unknown fields are ignored, and so is any other field of a type
 * that cannot be read: it counts as absent, redactIdentity() lists it, and serializeIdentity() writes it back. Only
 * functions that need such a field refuse it: selectEndpoint() an address, deriveTopics() a part of a topic.
 *
 * For an identity, JSON.stringify and Node's inspection show what redactIdentity() returns. Fields that hold a secret
 * do not enumerate, so console.dir, console.table, structuredClone and the messages of assertions show none either. A
 * copy made by spreading lacks these fields.
 * @param input - JSON as a string or as UTF-8 bytes, also with a byte order mark, or the object itself
 * @returns the identity
 * @throws LocalError `identity-not-json`, also if one JSON object has the same key twice; `identity-not-an-object`;
 *   `identity-access-key` or `identity-password` if that field is missing, empty or not a string; `bad-argument` if a
 *   getter or a proxy throws; `out-of-memory`. No error shows a value.
 * @see spec, "Client identity"
 *
 * @example
 * import { parseIdentity, redactIdentity } from 'hub-protocol';
 *
 * const identity = parseIdentity('{"access_key":"kiosk-7","password":"correct horse","site_id":"lobby"}');
 * console.log(identity.siteId, identity.protocols.wss, identity.mqtt); // lobby true undefined
 * console.log(redactIdentity(identity).password); // [redacted]
 */
export function parseIdentity(input: string | Uint8Array | object): Identity {
  return readArgument('input', () => {
    const identity = readIdentity(input);
    const { dataPlaneEndpoints, mqtt } = identity;
    hideSecrets(identity, redactIdentity(identity));
    opaque(identity, redactIdentity);
    opaque(dataPlaneEndpoints, () => redactIdentity(identity).dataPlaneEndpoints);
    if (mqtt !== undefined) opaque(mqtt, () => redactIdentity(identity).mqtt);
    return identity;
  });
}

/** Hides every field whose value may not be shown, or not completely. */
function hideSecrets(object: object, shown: unknown): void {
  const fields = object as Fields;
  const names = Object.keys(fields);
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = fields[name];
    const shownValue = (shown as Fields)[name];
    // MicroQuickJS enumerates hidden fields too; they are not in `shown`.
    if (isObject(value) && isObject(shownValue)) hideSecrets(value, shownValue);
    else if (value !== shownValue) hideFields(fields, [name]);
  }
}
