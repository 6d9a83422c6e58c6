/** Reads an identity that was issued. Spec, "Client identity". */

import { readArgument } from '../arguments.ts';
import { type Fields, isObject } from '../issued/fields.ts';
import { hideFields, opaque } from '../opaque.ts';
import type { Identity } from './identity.ts';
import { readIdentity } from './read-identity.ts';
import { redactIdentity } from './redact.ts';

/**
 * Reads an identity. Each field is found under every name that it has been issued with. `null` counts as absent, and
 * optional fields have defaults.
 *
 * Only an access key and a password are needed. Unknown fields and members are ignored, and so are other fields of a type
 * that cannot be read: they count as absent, redactIdentity() lists them, and serializeIdentity() writes them back. What
 * needs one of them refuses it: selectEndpoint() an address, deriveTopics() a part of a topic.
 *
 * JSON.stringify and Node's inspection show of an identity what redactIdentity() returns. Fields that hold a secret do
 * not enumerate, so that console.dir, console.table, structuredClone and the messages of assertions show none either. A
 * copy made by spreading lacks them.
 * @param input - JSON as a string or as UTF-8 bytes, or the object itself
 * @throws LocalError `identity-not-json`, also for JSON with a key twice in one object; `identity-not-an-object`;
 *   `identity-access-key`, `identity-password` where that is missing, empty or not a string; `bad-argument` where a getter
 *   or a proxy throws. No error shows a value.
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

/** Hides every field that differs from what may be shown of it. */
function hideSecrets(object: object, shown: unknown): void {
  const fields = object as Fields;
  const names = Object.keys(fields);
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = fields[name];
    const shownValue = (shown as Fields)[name];
    if (isObject(value)) hideSecrets(value, shownValue);
    else if (value !== shownValue) hideFields(fields, [name]);
  }
}
