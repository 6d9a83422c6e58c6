/** Writes identities as JSON: whole, to be stored, or without their secrets. Spec, "Local configuration". */
import { readArgument } from '../arguments.ts';
import { issuedOf } from '../issued/issued.ts';
import { stringifyJson } from '../wire/write-json.ts';
import type { Identity } from './identity.ts';
import { identityOf } from './read-identity.ts';
import { redactIdentity } from './redact.ts';

/**
 * Returns an identity as JSON.
 *
 * Without `secrets` it is what redactIdentity() returns, to be shown. With `secrets: true` it is what the identity was
 * read from: each field under its current name with the value that it was issued with, unknown fields included, and
 * numbers as the tokens that they came as. What counted as absent is left out. Parsed, it is the same identity again.
 * @param identity - from parseIdentity(), or the object as issued
 * @throws LocalError as parseIdentity(); with `secrets`, `not-json`, `unsafe-number`, `lone-surrogate` or `json-depth`
 *   for an identity that was read from an object that JSON cannot represent
 */
export function serializeIdentity(
  identity: Identity,
  options: { secrets?: boolean | undefined } = {},
): string {
  return readArgument('identity', () => {
    if (options.secrets !== true) return JSON.stringify(redactIdentity(identity));
    return stringifyJson(issuedOf(identityOf(identity))!.fields);
  });
}
