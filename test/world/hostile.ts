/** Values that no caller should pass. */

/** A Proxy whose every use throws a TypeError. */
export function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Bytes whose memory was transferred to another thread. */
export function detached(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}
