/**
 * The two kinds of failure and the closed list of their codes.
 *
 * `LocalError` is the caller's mistake, `RemoteError` the peer's (or somebody's in between). Programs
 * branch on `code`; `message` is for the person who has to do something about it. No message holds a
 * key, a password, a plaintext or a piece of what the peer sent.
 */

/** What the caller can do wrong. */
export type LocalCode =
  | 'bad-argument' // an argument of the wrong type, or out of its range
  | 'bad-length' // a key, pin, PSK, salt or buffer of the wrong length in bytes
  | 'bad-random' // randomBytes() did not answer the number of bytes it was asked for
  | 'not-json' // a value that JSON has no form for
  | 'unsafe-number' // a number that JSON, or its canonical form, cannot carry exactly
  | 'lone-surrogate' // a string that has no UTF-8 form
  | 'json-depth' // more nesting than MAX_JSON_DEPTH
  | 'suite-unavailable' // the injected crypto lacks the suite's cipher
  | 'blake2b-unavailable' // the injected crypto lacks blake2b, which argon2id needs
  | 'out-of-memory' // the engine has not the memory that argon2id is to work in
  | 'crypto-failed' // the injected crypto threw where only a defect of its own explains it
  | 'message-too-long' // more than fits into one Noise message
  | 'nonce-exhausted' // 2^64 - 1 messages under one key
  | 'wrong-state' // a method called when it has no meaning
  | 'session-over' // sending on a session that failed or closed
  | 'trust-unreadable' // pin() threw, or answered neither undefined nor 32 bytes
  | 'identity-not-json'
  | 'identity-not-an-object'
  | 'identity-access-key'
  | 'identity-password'
  | 'identity-field' // an optional field of a type that cannot be read safely
  | 'keyring-not-json'
  | 'keyring-version' // a device record that another version of this library wrote
  | 'keyring-field' // a field of a device record that is missing, unknown, or cannot be read
  | 'keyring-other-identity' // a device record that belongs to another access key
  | 'pin-differs' // a pin to be stored for a hub that has another
  | 'static-key-fresh' // a hub that is known is to be shown a static key that was never used
  | 'unsupported-protocol' // a protocol asked for that the caller does not support
  | 'no-endpoint' // no address in the identity for what the hub serves and the caller supports
  | 'bad-endpoint' // an address that is no URL, or has a scheme that is refused
  | 'bad-topic' // a topic, or what topics are made of, against the rules of MQTT or of the hub
  | 'topic-out-of-scope' // an issued topic that belongs to another client, as far as can be told
  | 'no-topics'; // no topics issued, and nothing to derive them from

/** What can be wrong with what the peer sent, or did. */
export type RemoteCode =
  // JSON
  | 'bad-utf8'
  | 'bad-json'
  | 'duplicate-key'
  | 'lone-surrogate'
  | 'json-depth'
  // cleartext envelopes
  | 'envelope-too-large'
  | 'bad-envelope'
  | 'bad-payload'
  | 'unexpected-message'
  // negotiation
  | 'handshake-before-hello'
  | 'missing-node-id'
  | 'bad-node-id'
  | 'protocol-version'
  | 'bad-offer'
  | 'no-common-suite'
  | 'no-common-pattern'
  | 'not-offered'
  // the Noise handshake
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
  | 'hub-key-changed'
  | 'client-key-changed'
  // transport messages and frames
  | 'text-after-ready'
  | 'not-authentic'
  | 'nonce-exhausted'
  | 'empty-plaintext'
  | 'unknown-marker'
  | 'chunk-without-start'
  | 'message-while-open'
  // the first transport message at a hub
  | 'no-hello'
  | 'bad-hello'
  // how a connection ended
  | 'access-refused'
  | 'negotiation-refused'
  | 'kk-refused'
  | 'client-key-refused'
  | 'refused'
  | 'dropped'
  | 'timeout';

export type ErrorCode = LocalCode | RemoteCode;

/**
 * An Error in all but the `extends`: lowered to ES5, a class that extends a built-in one loses its
 * prototype and its fields on several device engines, and these errors must keep both everywhere.
 */
class ProtocolError<Code extends ErrorCode> implements Error {
  declare readonly name: string;
  /** One of a closed list; the only part of an error that a program should read. */
  readonly code: Code;
  declare readonly message: string;
  /** What was caught on the way, where it may be shown; never set for a failure of cryptography. */
  declare readonly cause?: unknown;
  declare readonly stack?: string;

  constructor(name: string, code: Code, sentence: string, cause: unknown) {
    const message = sentence || code; // the files for devices are built without sentences
    this.code = code;
    hide(this, 'name', name);
    hide(this, 'message', message);
    if (cause !== undefined) hide(this, 'cause', cause);
    const stack = new Error(message).stack;
    if (typeof stack === 'string') {
      const header = `Error: ${message}`;
      hide(this, 'stack', stack.indexOf(header) === 0 ? `${name} [${code}]${stack.slice(5)}` : stack);
    }
  }

  toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}
Object.setPrototypeOf(ProtocolError.prototype, Error.prototype);

/** Sets a field that does not show among the others, as those of an Error do not, whatever is inherited under its name. */
function hide(error: object, field: string, value: unknown): void {
  Object.defineProperty(error, field, { value, configurable: true, writable: true });
}

/** The caller's mistake: an argument, an option, a method at the wrong time, or injected code that failed. */
export class LocalError extends ProtocolError<LocalCode> {
  constructor(code: LocalCode, message: string, cause?: unknown) {
    super('LocalError', code, message, cause);
  }
}

/** The peer's mistake, or an attack. Nothing that comes from the network raises any other error. */
export class RemoteError extends ProtocolError<RemoteCode> {
  constructor(code: RemoteCode, message: string) {
    super('RemoteError', code, message, undefined);
  }
}
