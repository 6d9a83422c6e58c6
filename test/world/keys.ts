/** The client and the hub of most tests: their names, their keys, and what each has stored of the other. */
import { type Bytes, hexToBytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';

export const NODE_ID = 'hub-1';
export const PSK: Bytes = new Uint8Array(32).fill(5);
export const CLIENT_STATIC: Bytes = new Uint8Array(32).fill(1);
export const HUB_STATIC: Bytes = new Uint8Array(32).fill(2);
export const CLIENT_KEY: Bytes = new Uint8Array(nodeCrypto.x25519.publicKey(CLIENT_STATIC));
export const HUB_KEY: Bytes = new Uint8Array(nodeCrypto.x25519.publicKey(HUB_STATIC));
/** A password and its PSK at that hub, by argon2-cffi (vectors/argon2id.json): deriving it takes most of a second. */
export const PASSWORD = 'correct horse battery staple';
export const DERIVED: Bytes = hexToBytes('a102089b094aedde10ae279c95568c9cf982f20f3a96d48402f33ef4b1f5ec41')!;
export const HUB_PSK: { nodeId: string; key: Bytes } = { nodeId: NODE_ID, key: PSK };
export const HUB_PIN: { nodeId: string; key: Bytes } = { nodeId: NODE_ID, key: HUB_KEY };
