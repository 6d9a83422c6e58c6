/** Every cap of the library, with its source. All are in bytes unless the name says otherwise. */

/** A Noise message, handshake or transport: 65535 (Noise spec, section 3; spec, "Limits"). */
export const MAX_NOISE_MESSAGE: number = 65535;

/** The authentication tag that ends each sealed text: 16 (RFC 8439, section 2.5; NIST SP 800-38D). */
export const TAG_LENGTH: number = 16;

/** Payload of one frame, so also of one chunk: 65000 (spec, "Data-plane transport framing"). */
export const MAX_CHUNK: number = 65000;

/** A message while it is put together again: 32 MiB (spec, "Limits"); one byte more drops it. */
export const MAX_MESSAGE: number = 32 * 1024 * 1024;

/**
 * A cleartext envelope as UTF-8: 256 KiB. Ours: the largest handshake message is 131070 hex digits, and a
 * HELLO with a PEM in it is a few KiB.
 */
export const MAX_ENVELOPE: number = 256 * 1024;

/** Arrays and objects open at once in a JSON text: 64. Ours: the protocol's own messages need four. */
export const MAX_JSON_DEPTH: number = 64;

/** Keys, public and private, PSKs, hashes: 32 (Noise spec, sections 12.1 and 12.5, and "psk" in section 9). */
export const KEY_LENGTH: number = 32;

/** An MQTT topic in UTF-8: 65535 (MQTT 5.0, section 1.5.4). */
export const MAX_TOPIC: number = 65535;

/** How much of the access key an MQTT client id holds, in characters: 48. Ours, as of the public clients. */
export const MAX_CLIENT_ID_KEY: number = 48;

/** Speech, display items and choices in one reply: 1000. Ours: a person reads no more. */
export const MAX_REPLY_PARTS: number = 1000;

/** What a reply keeps, in UTF-16 units of text and of the items' JSON: 4 MiB. Ours: room for images sent as base64. */
export const MAX_REPLY_SIZE: number = 4 * 1024 * 1024;
