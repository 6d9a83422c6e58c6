/**
 * Writes identities as JSON: complete, to be stored, or without their secrets, to be shown. Spec, "Local
 * configuration".
 */

import { assertFlag, readArgument, readOptions } from '../arguments.ts';
import { issuedOf } from '../issued/issued.ts';
import { stringifyJson } from '../wire/write-json.ts';
import type { Identity } from './identity.ts';
import { identityOf } from './read-identity.ts';
import { redactIdentity } from './redact.ts';

/**
 * Returns an identity as JSON.
 *
 * Without `secrets`, this is the result of redactIdentity(). With `secrets: true`, it is the object that the identity
 * was read from: each field under its current name with the issued value, including unknown fields, and each number as
 * the token that was read. Fields that counted as absent are left out. Parsing the result returns the same identity.
 * @param identity - from parseIdentity(), or the object as issued
 * @param options - `secrets`: whether to include the secrets (default false)
 * @returns the JSON; with `secrets`, a secret itself
 * @throws LocalError the codes of parseIdentity(); with `secrets`, also `not-json`, `unsafe-number`, `lone-surrogate`
 *   or `json-depth` if the identity was read from an object that JSON cannot represent
 *
 * @example
 * import { parseIdentity, serializeIdentity } from 'hub-protocol';
 *
 * const identity = parseIdentity({ access_key: 'kiosk-7', password: 'correct horse' });
 * console.log(serializeIdentity(identity).includes('correct horse')); // false
 * console.log(serializeIdentity(identity, { secrets: true }).includes('correct horse')); // true
 */
export function serializeIdentity(
  identity: Identity,
  options: { secrets?: boolean | undefined } = {},
): string {
  return readArgument('identity', () => {
    const { secrets } = readOptions(options, 'options', { secrets: true });
    if (!assertFlag(secrets, 'secrets')) return JSON.stringify(redactIdentity(identity));
    return stringifyJson(issuedOf(identityOf(identity))!.fields);
  });
}
