/** Short texts for keys and for what a client stores. */
import type { Keyring } from '../../../src/index.ts';

export function storedLabel({ pins, psks, staticKeyIsFresh }: Keyring): string {
  const psk = psks.map(({ key, isProvisioned, isSuspect }) => `${short(key)}${isProvisioned}${isSuspect}`);
  return `${pins.map(({ key }) => short(key))}/${psk}/${staticKeyIsFresh}`;
}

export function short(key: Uint8Array): string {
  return `${key[0]}.${key[1]}`;
}
