/** Identities as JSON text: whole, to be stored, or without their secrets. Spec, "Local configuration". */
import { stringifyJson } from '../wire/write-json.ts';
import { type Identity, parseIdentity } from './identity.ts';
import { issuedOf } from './issued.ts';
import { redactIdentity } from './redact.ts';

/**
 * An identity as JSON text. Without `secrets` it is what `redactIdentity` answers, to be shown. With them it is what the
 * identity was read from: each field as it came, numbers as their token and unknown fields included, under today's
 * names, less what counted as absent; parsed, it is the same identity again. Of a copy, it is the fields of the copy.
 * @throws LocalError with `secrets`, where the identity was read from an object that JSON has no form for: `not-json`,
 *   `unsafe-number`, `lone-surrogate`, `json-depth`
 */
export function serializeIdentity(
  identity: Identity,
  options: { secrets?: boolean | undefined } = {},
): string {
  if (options.secrets !== true) return JSON.stringify(redactIdentity(identity));
  return stringifyJson(issuedOf(identity) ?? issuedOf(parseIdentity(identity))!);
}
