/** What to do about each error, for docs/errors.md. The compiler holds both lists to the codes. */
import type { LocalCode, RemoteCode } from '../src/errors.ts';

const RESTORE_KEYRING =
  'Restore the keyring from a copy. Do not start with an empty one: the client would trust any hub that knows the password, and ' +
  'its hub would refuse the new static key.';
const NEW_CONNECTION = 'Connect again with a new session. Pin and PSK are as good as before.';
const NOT_PROTOCOL_3 = 'Check that the address is that of a hub, and update the peer.';
const FRAMES =
  'Connect again. If it happens again, the peer cuts its messages differently: see [Frames and chunks](protocol.md#frames-and-chunks).';
const BINARY =
  'Drop the message: the session goes on. See [Binary messages](protocol.md#binary-messages) for what peers send.';

export const LOCAL_ADVICE: { readonly [code in LocalCode]: string } = {
  'bad-argument':
    'Pass what the message asks for. An option that does not exist is an error, too: look for a misspelling.',
  'bad-length':
    'Pass as many bytes as the message says. A key that was stored as hex or base64 has to be decoded first.',
  'bad-random': 'Repair the random generator. Do not connect without one.',
  'not-json':
    'Pass plain data: null, booleans, finite numbers, strings, arrays and objects. A string that is passed to `sendJson` must ' +
    'be JSON: wrap other text in an object.',
  'unsafe-number': 'Pass the number as a string, or as a `JsonNumber` with the token that is meant.',
  'lone-surrogate': 'Repair the string, most likely where it was cut: half a surrogate pair is no character.',
  'json-depth': 'Nest less deeply. An object that contains itself cannot be sent.',
  'suite-unavailable': 'Inject a crypto that has the cipher, or leave the suite out.',
  'blake2b-unavailable': 'Add `blake2b` or a native `argon2id` to the crypto, or provision the PSK.',
  'out-of-memory':
    'Pass `memory`, derive on another machine, or provision the 32 bytes: `storePsk` with `isProvisioned: true`.',
  'crypto-failed':
    'Look at `cause`: the injected code failed, not the peer. Nothing is wrong with pin or PSK.',
  'low-order-key': 'Restore the stored key: it was damaged or replaced, since no peer can have it.',
  'message-too-long': 'Pass fewer bytes. Sessions cut messages of up to 32 MiB by themselves.',
  'nonce-exhausted': 'Close the connection and connect again.',
  'wrong-state':
    'Call the method when its turn comes, and never from a callback of the same object. Nothing has changed.',
  'session-over': 'Make a new session on a new connection.',
  'identity-not-json': 'Pass the identity as it was issued.',
  'identity-not-an-object':
    'Pass the identity itself, not a list of identities or an answer that contains one.',
  'identity-access-key': 'Issue the identity again.',
  'identity-password':
    'Issue the identity again. One that was written by `JSON.stringify` has lost its secrets: use `serializeIdentity`.',
  'identity-field': 'Issue the identity again with this field as the message says.',
  'keyring-not-json': RESTORE_KEYRING,
  'keyring-version': 'Use the version of this library that wrote the keyring.',
  'keyring-field': RESTORE_KEYRING,
  'keyring-other-identity': 'Load the keyring of this access key. Each identity has one of its own.',
  'pin-differs':
    'End the session. Another program has pinned another key of this hub meanwhile: find out which of them is right.',
  'static-key-fresh':
    'Warn the person. Restore the lost static key, share one key between programs, or ask the hub’s operator to reset it.',
  'unsupported-protocol': 'Request another protocol, or add this one to `supported`.',
  'no-endpoint': 'Issue the identity with an address, or support one of the protocols that it has.',
  'bad-endpoint': 'Correct the address in the identity.',
  'plaintext-endpoint':
    'Use an address with TLS. Pass `allowPlaintext: true` only where nobody else is on the network.',
  'bad-topic': 'Issue the identity again.',
  'topic-out-of-scope':
    'Issue the identity again, or pass its `accessKey`. Do not use the topic: it is another client’s.',
  'no-topics': 'Issue the identity with a `topic_prefix`.',
};

export const REMOTE_ADVICE: { readonly [code in RemoteCode]: string } = {
  'bad-utf8': NOT_PROTOCOL_3,
  'bad-json': NOT_PROTOCOL_3,
  'duplicate-key': NOT_PROTOCOL_3,
  'lone-surrogate': NOT_PROTOCOL_3,
  'json-depth': NOT_PROTOCOL_3,
  'envelope-too-large':
    'Check who sends it. Neither the greeting of a hub nor a part of the handshake is that long.',
  'bad-envelope': NOT_PROTOCOL_3,
  'bad-payload': NOT_PROTOCOL_3,
  'unexpected-message':
    'Connect again. If it happens again, the peer speaks out of turn: see [Order and repeats](protocol.md#order-and-repeats).',
  'handshake-before-hello':
    'Connect again. A polled carrier may hold messages of an earlier attempt: discard them first.',
  'missing-node-id': 'Check that the address is that of a hub.',
  'bad-node-id': NOT_PROTOCOL_3,
  'protocol-version': 'Update the peer: it has no protocol 3. There is no older protocol to fall back to.',
  'bad-offer':
    'Update the hub: it has no Noise handshake, offers it in another form, or lacks XXpsk2 or 25519_ChaChaPoly_SHA256.',
  'no-common-suite':
    'Inject a crypto with a cipher that the hub offers. Every hub offers 25519_ChaChaPoly_SHA256.',
  'no-common-pattern': 'Allow XXpsk2 in `patterns`, or update the hub: every hub offers it.',
  'not-offered': 'Update the client: it chose what it was not offered.',
  'bad-hex': NOT_PROTOCOL_3,
  'message-too-short': 'Connect again: a message was cut short on its way.',
  'message-too-long': NOT_PROTOCOL_3,
  'low-order-key': 'Somebody tries to share a secret with everybody. Do not trust this peer.',
  'static-key-not-authentic':
    'Connect again: a message was damaged on its way. If it happens again, somebody interferes.',
  'payload-not-authentic': 'Connect again. Sessions mostly give a code that names the cause.',
  'prologue-differs':
    'Look at what HELLO and HANDSHAKE contain: the client’s JSON library writes some of it differently. ' +
    '[How to serve every client](interop.md#how-to-serve-every-client) has the rules.',
  'psk-differs':
    'Derive the PSK again. If the next connection ends in the same way, check the password of the identity.',
  'kk-failed': 'Connect again: the next attempt uses XXpsk2 and tells the cause.',
  'bad-handshake-payload':
    'Update the peer: it knows the password, but sends something else than protocol 3 asks for.',
  'unknown-hub': 'Make sure which hub this is, then provision its pin.',
  'hub-key-changed':
    'Find out whether this is the same hub with a new key, then pin its `hubKey` with `pinHub`. If nobody knows of a new key, do not.',
  'client-key-changed': 'Find out whether the client got a new static key, then reset its pin at the hub.',
  'text-after-ready': NEW_CONNECTION,
  'not-authentic': NEW_CONNECTION,
  'nonce-exhausted': NEW_CONNECTION,
  'empty-plaintext': FRAMES,
  'unknown-marker': FRAMES,
  'chunk-without-start': FRAMES,
  'message-while-open': FRAMES,
  'bad-binary-message': BINARY,
  'binary-version': 'Update this library, or ask the hub’s operator which version it sends.',
  'reserved-code':
    'Drop the message: the session goes on. Update this library, if a newer version knows the type.',
  'bad-metadata': BINARY,
  compressed: 'Pass `inflate` to `decodeBinary`, or do not ask the hub for binary messages with `binarize`.',
  'bad-compression': BINARY,
  'no-hello': 'The session goes on, and the message follows as an event of its own. Update the client.',
  'bad-hello': 'The session goes on. Update the client.',
  'access-refused':
    'Check the access key. A new one may take minutes until the hub admits it: try again later.',
  'negotiation-refused':
    'Check the access key, then what the hub and this client offer each other. Try again later.',
  'kk-refused': 'Connect again: the next attempt uses XXpsk2 and tells the cause.',
  'client-key-refused':
    'Restore the static key that the hub has pinned, share it with the other program that uses this identity, or ask the hub’s ' +
    'operator to reset it. Do not dial again before.',
  refused: 'Ask the hub’s operator whether the access key was revoked. Try again later.',
  unavailable: 'Try again later.',
  dropped: 'Connect again.',
  timeout:
    'Try again later. Over MQTT, where a hub refuses by silence, see [what silence means](mqtt.md#what-silence-means).',
};
