import type { Identity } from '../../src/identity/identity.ts';
import { ALIASES } from '../../tools/aliases.ts';

/** All fields of an identity as a plain object, those included that do not enumerate. */
export function plain(identity: Identity): object {
  const { mqtt } = identity;
  return {
    ...fieldsOf(identity, ALIASES.identity),
    dataPlaneEndpoints: fieldsOf(identity.dataPlaneEndpoints, ALIASES.dataPlaneEndpoints),
    ...(mqtt && { mqtt: fieldsOf(mqtt, ALIASES.mqtt) }),
  };
}

function fieldsOf(object: object, known: object): object {
  const values = object as { [name: string]: unknown };
  const names = Object.keys(known).filter((name) => values[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
