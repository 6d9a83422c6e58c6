/**
 * The two error classes and the closed list of their codes.
 *
 * A `LocalError` is the caller's mistake or a fault of this side. A `RemoteError` is the fault of the peer, or of a
 * third party in between. Programs branch on `code`; `message` tells a person what to do. No message contains a secret,
 * a plaintext or anything the peer sent, except the fingerprint of its public key.
 */
import { descriptor } from './hide-fields.ts';

/** Codes for faults of this side. errors-table.ts says what each code means. */
export type LocalCode =
  | 'bad-argument'
  | 'bad-length'
  | 'bad-random'
  | 'not-json'
  | 'unsafe-number'
  | 'lone-surrogate'
  | 'json-depth'
  | 'suite-unavailable'
  | 'blake2b-unavailable'
  | 'out-of-memory'
  | 'crypto-failed'
  | 'low-order-key'
  | 'message-too-long'
  | 'nonce-exhausted'
  | 'wrong-state'
  | 'session-over'
  | 'too-many-requests'
  | 'identity-not-json'
  | 'identity-not-an-object'
  | 'identity-access-key'
  | 'identity-password'
  | 'identity-field'
  | 'keyring-not-json'
  | 'keyring-version'
  | 'keyring-field'
  | 'keyring-other-identity'
  | 'keyring-not-readable'
  | 'keyring-not-writable'
  | 'keyring-not-private'
  | 'keyring-replaced'
  | 'slots-unreadable'
  | 'pin-differs'
  | 'keyring-full'
  | 'static-key-fresh'
  | 'unsupported-protocol'
  | 'no-endpoint'
  | 'bad-endpoint'
  | 'plaintext-endpoint'
  | 'bad-topic'
  | 'topic-out-of-scope'
  | 'no-topics';

/** Codes for faults in what the peer sent or did. */
export type RemoteCode =
  | 'bad-utf8'
  | 'bad-json'
  | 'duplicate-key'
  | 'lone-surrogate'
  | 'json-depth'
  | 'envelope-too-large'
  | 'bad-envelope'
  | 'bad-payload'
  | 'unexpected-message'
  | 'handshake-before-hello'
  | 'missing-node-id'
  | 'bad-node-id'
  | 'protocol-version'
  | 'bad-offer'
  | 'no-common-suite'
  | 'no-common-pattern'
  | 'not-offered'
  | 'bad-hex'
  | 'message-too-short'
  | 'message-too-long'
  | 'low-order-key'
  | 'static-key-not-authentic'
  | 'payload-not-authentic'
  | 'prologue-differs'
  | 'psk-differs'
  | 'kk-failed'
  | 'bad-handshake-payload'
  | 'unknown-hub'
  | 'hub-key-changed'
  | 'client-key-changed'
  | 'text-after-ready'
  | 'not-authentic'
  | 'nonce-exhausted'
  | 'frame-too-long'
  | 'empty-plaintext'
  | 'unknown-marker'
  | 'chunk-without-start'
  | 'message-while-open'
  | 'bad-binary-message'
  | 'binary-version'
  | 'reserved-code'
  | 'bad-metadata'
  | 'compressed'
  | 'bad-compression'
  | 'no-hello'
  | 'bad-hello'
  | EndingCode;

/** Codes for the end of a connection that the other side did not explain. */
export type EndingCode =
  | 'not-reachable'
  | 'certificate-refused'
  | 'not-a-hub'
  | 'broker-refused'
  | 'access-refused'
  | 'negotiation-refused'
  | 'kk-refused'
  | 'client-key-refused'
  | 'refused'
  | 'unavailable'
  | 'dropped'
  | 'timeout';

/** All codes. docs/reference/errors.md says what each means, who raises it, and what to do. */
export type ErrorCode = LocalCode | RemoteCode;

/**
 * An Error in everything but `extends`. Lowered to ES5, a class that extends a built-in one loses its prototype and its
 * fields in several engines of devices, and these errors must keep both everywhere.
 *
 * `name`, `code` and `message` enumerate, unlike an engine's Error's. So they survive JSON.stringify, structuredClone
 * and postMessage, which would drop the `code` of an engine's Error.
 */
class ProtocolError<Code extends ErrorCode> implements Error {
  /** `LocalError` or `RemoteError`. */
  declare readonly name: string;
  /** One of a closed list: the part of an error that programs read. */
  declare readonly code: Code;
  /** A sentence for a person. In builds without sentences, it is the code. */
  declare readonly message: string;
  /** The error that caused this one. Never set for a RemoteError. */
  declare readonly cause?: unknown;
  /** The stack, if the engine has one. */
  declare readonly stack?: string;

  constructor(name: string, code: Code, sentence: string, cause: unknown) {
    const message = sentence || code;
    define(this, 'name', name, true);
    define(this, 'code', code, true);
    define(this, 'message', message, true);
    if (cause !== undefined) define(this, 'cause', cause, false);
    const stack = new Error(message).stack;
    if (typeof stack === 'string') {
      const isNamed = stack.indexOf('Error: ') === 0; // as V8 and XS begin it
      define(this, 'stack', isNamed ? `${name} [${code}]${stack.slice(5)}` : stack, false);
    }
  }

  /** @returns `name [code]: message` */
  toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}
Object.setPrototypeOf(ProtocolError.prototype, Error.prototype);

/** Sets an own field even if Error.prototype has a frozen one, or an accessor, of the same name. */
function define(error: object, field: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, field, descriptor(value, true, enumerable));
}

/**
 * The caller's mistake, or a fault of this side: an argument, a call in the wrong state, injected code that failed.
 *
 * @example
 * import { createKeyring, LocalError } from 'hub-protocol';
 *
 * try {
 *   createKeyring({ accessKey: 'kiosk-7', staticKey: new Uint8Array(31) });
 * } catch (error) {
 *   if (error instanceof LocalError) console.log(error.code); // bad-length
 * }
 */
export class LocalError extends ProtocolError<LocalCode> {
  /**
   * @param code - what went wrong
   * @param message - a sentence for a person
   * @param cause - the error that caused this one
   */
  constructor(code: LocalCode, message: string, cause?: unknown) {
    super('LocalError', code, message, cause);
  }
}

/** The optional fields of a RemoteError. */
export type RemoteDetails = {
  readonly [name in 'status' | 'platformCode' | 'nodeId' | 'pinnedKey' | 'hubKey']?:
    | RemoteError[name]
    | undefined;
};

/**
 * The peer's fault, or an attack. Data from the network raises no other error.
 *
 * @example
 * import { parseJson, RemoteError } from 'hub-protocol';
 *
 * try {
 *   parseJson('{"a":1,"a":2}');
 * } catch (error) {
 *   if (error instanceof RemoteError) console.log(error.code); // duplicate-key
 * }
 */
export class RemoteError extends ProtocolError<RemoteCode> {
  /** The HTTP status with which a WebSocket upgrade was refused, if it was passed to `closed`. */
  declare readonly status?: number;
  /** The platform's code for what prevented the connection, such as `ECONNREFUSED`, if it was passed to `closed`. */
  declare readonly platformCode?: string;
  /** For `hub-key-changed` and `unknown-hub`: the hub's node id. */
  declare readonly nodeId?: string;
  /** For `hub-key-changed`: the key that is pinned, 32 bytes. */
  declare readonly pinnedKey?: Uint8Array;
  /** For `hub-key-changed`: the key that the hub has presented, 32 bytes. */
  declare readonly hubKey?: Uint8Array;

  /**
   * @param code - what went wrong
   * @param message - a sentence for a person
   * @param details - the fields that an error with this code has
   */
  constructor(code: RemoteCode, message: string, details: RemoteDetails = {}) {
    super('RemoteError', code, message, undefined);
    const names = Object.keys(details) as (keyof RemoteDetails)[];
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      if (details[name] !== undefined) define(this, name, details[name], true);
    }
  }
}
