/** Bytes as hexadecimal digits, in groups. */

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/.{4}(?=.)/g, '$& ');
}

/**
 * The first 8 bytes of a public key, by which a person recognizes it.
 * @param {Uint8Array} key
 */
export function fingerprint(key) {
  return `${hex(key.subarray(0, 8))} …`;
}
