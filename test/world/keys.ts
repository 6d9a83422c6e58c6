/** The client and the hub of most tests: their names, their keys, and what each has stored of the other. */
import type { Bytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';

export const NODE_ID = 'hub-1';
export const PSK: Bytes = new Uint8Array(32).fill(5);
export const CLIENT_STATIC: Bytes = new Uint8Array(32).fill(1);
export const HUB_STATIC: Bytes = new Uint8Array(32).fill(2);
export const CLIENT_KEY: Bytes = new Uint8Array(nodeCrypto.x25519.publicKey(CLIENT_STATIC));
export const HUB_KEY: Bytes = new Uint8Array(nodeCrypto.x25519.publicKey(HUB_STATIC));
export const HUB_PSK: { nodeId: string; key: Bytes } = { nodeId: NODE_ID, key: PSK };
export const HUB_PIN: { nodeId: string; key: Bytes } = { nodeId: NODE_ID, key: HUB_KEY };
