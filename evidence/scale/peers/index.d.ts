/** What the benchmarks use of the peers, whose own types are not installed with the library. */

export interface Argon2Options {
  password: Uint8Array;
  salt: Uint8Array;
  iterations: number;
  memorySize: number;
  parallelism: number;
  hashLength: number;
  outputType: 'binary';
}
export function wasmArgon2id(options: Argon2Options): Promise<Uint8Array>;
export function hashRawSync(
  password: Uint8Array,
  options: {
    salt: Uint8Array;
    timeCost: number;
    memoryCost: number;
    parallelism: number;
    outputLen: number;
    algorithm: number;
  },
): Uint8Array;

type NoiseKeys = { readonly publicKey: Uint8Array };
export class NoiseHandshake {
  constructor(pattern: string, isInitiator: boolean, staticKeys: NoiseKeys);
  readonly complete: boolean;
  initialise(prologue: Uint8Array): void;
  send(): Uint8Array;
  recv(message: Uint8Array): void;
}
export function generateKeyPair(): NoiseKeys;

type Libp2pCrypto = { generateKeypair(): NoiseKeys };
export function wrapCrypto(crypto: object): Libp2pCrypto;
export const defaultCrypto: object;
export class XXHandshakeState {
  constructor(init: {
    crypto: Libp2pCrypto;
    protocolName: string;
    initiator: boolean;
    prologue: Uint8Array;
    s: NoiseKeys;
  });
  readonly ss: { split(): unknown };
  writeMessageA(payload: Uint8Array): object;
  readMessageA(message: object): object;
  writeMessageB(payload: Uint8Array): object;
  readMessageB(message: object): object;
  writeMessageC(payload: Uint8Array): object;
  readMessageC(message: object): object;
}

export const libsodium: {
  readonly ready: Promise<void>;
  crypto_aead_chacha20poly1305_ietf_encrypt(
    message: Uint8Array,
    associatedData: null,
    secretNonce: null,
    nonce: Uint8Array,
    key: Uint8Array,
  ): Uint8Array;
  crypto_aead_chacha20poly1305_ietf_decrypt(
    secretNonce: null,
    ciphertext: Uint8Array,
    associatedData: null,
    nonce: Uint8Array,
    key: Uint8Array,
  ): Uint8Array;
  crypto_scalarmult(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array;
};
export const sodiumNative: {
  crypto_aead_chacha20poly1305_ietf_encrypt(
    ciphertext: Uint8Array,
    message: Uint8Array,
    associatedData: null,
    secretNonce: null,
    nonce: Uint8Array,
    key: Uint8Array,
  ): void;
  crypto_aead_chacha20poly1305_ietf_decrypt(
    message: Uint8Array,
    secretNonce: null,
    ciphertext: Uint8Array,
    associatedData: null,
    nonce: Uint8Array,
    key: Uint8Array,
  ): void;
  crypto_scalarmult(secret: Uint8Array, privateKey: Uint8Array, publicKey: Uint8Array): void;
};

/** Answers each `ask` with its text. */
export function serveSocketIo(server: import('node:https').Server): void;
/** Connects over a WebSocket at once, as the others do. */
export function dialSocketIo(
  url: string,
  ca: string,
): Promise<{
  emitWithAck(event: 'ask', text: string): Promise<string>;
  disconnect(): void;
  /** Connects again, after `disconnect`. */
  reconnect(): Promise<unknown>;
}>;
