/** The ephemeral keys of the other side: every connection must have its own. */
import { bytesToHex } from '../protocol.ts';
import { Failure } from '../verdict.ts';

const LENGTH = 32;

const REPEATED =
  'ephemeral key: it was used before; each handshake takes a fresh one from a cryptographic random number generator';
const STATIC = 'ephemeral key: it is the static key; each handshake takes a fresh one';

export class EphemeralKeys {
  readonly #seen: Set<string> = new Set();

  /** @throws Failure if the key at the start of this handshake message was used before, or is this static key */
  check(what: string, message: Uint8Array, staticKey: Uint8Array | undefined): void {
    const key = bytesToHex(message.subarray(0, LENGTH));
    const isStatic = staticKey !== undefined && key === bytesToHex(staticKey);
    const isRepeated = this.#seen.has(key);
    this.#seen.add(key);
    if (!isStatic && !isRepeated) return;
    const got = isStatic ? 'the static key of this side' : 'the same as on an earlier connection';
    const difference = { where: `ephemeral key of ${what}`, expected: 'a fresh one', got };
    throw new Failure(difference, [isStatic ? STATIC : REPEATED]);
  }
}
