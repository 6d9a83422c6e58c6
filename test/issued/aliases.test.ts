/** The names of fields are listed once, in vectors/aliases/identity.json. These tests compare everything that depends on it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { ALIASES, OBJECTS } from '../../tools/aliases.ts';
import { readVectors } from '../world/vectors.ts';

/** Where the fields of an identity are, by their names. */
type Issued = { [name: string]: unknown };
const issuedIn = (issued: Issued, object: string): Issued =>
  object === 'identity' ? issued : ((issued[ALIASES.identity[object]![0]!] as Issued | undefined) ?? {});
const readIn = (identity: Identity, object: string): Issued =>
  (object === 'identity' ? identity : (identity[object as 'mqtt'] ?? {})) as Issued;

/** Vectors of identities that are read, as issued and as read. */
const VECTORS = readVectors('identity', 'Identity').map(({ flags, text, identity }) => ({
  flags: flags as string[],
  issued: JSON.parse(text) as Issued,
  identity: identity as Identity,
}));

for (const object of OBJECTS) {
  for (const [field, names] of Object.entries(ALIASES[object])) {
    for (const name of names) {
      const others = names.filter((other) => other !== name);
      const isAlone = (issued: Issued) => name in issued && others.every((other) => !(other in issued));

      test(`a vector issues ${object}.${field} only as ${name}`, () => {
        const found = VECTORS.filter(
          ({ flags, issued, identity }) =>
            flags.includes('Alias') &&
            isAlone(issuedIn(issued, object)) &&
            readIn(identity, object)[field] !== undefined,
        );
        assert.ok(found.length > 0, 'run `vectors/generate/run`');
        for (const { issued, identity } of found) {
          const read = readIn(parseIdentity(issued), object)[field];
          const isGroup = object === 'identity' && OBJECTS.includes(field as 'mqtt');
          if (!isGroup) assert.equal(read, readIn(identity, object)[field]);
        }
      });
    }
  }
}

test.run();
