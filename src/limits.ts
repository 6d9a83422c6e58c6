/** Every limit of the library, with its source; in bytes unless stated otherwise. */

/** A Noise message, handshake or transport: 65535 (Noise spec, section 3; spec, "Limits"). */
export const MAX_NOISE_MESSAGE: number = 65535;

/** The authentication tag at the end of each ciphertext: 16 (RFC 8439, section 2.5; NIST SP 800-38D). */
export const TAG_LENGTH: number = 16;

/** Payload of one frame, and so of one chunk: 65000 (spec, "Data-plane transport framing"). */
export const MAX_CHUNK: number = 65000;

/** A reassembled message: 32 MiB (spec, "Limits"); a longer one is dropped. */
export const MAX_MESSAGE: number = 32 * 1024 * 1024;

/**
 * A cleartext envelope in UTF-8: 256 KiB. Our choice: the longest handshake message takes 131070 hex digits, and a HELLO
 * with a PEM in it a few KiB.
 */
export const MAX_ENVELOPE: number = 256 * 1024;

/** A node id in UTF-8: 4096. Our choice: HiveMind's hubs send a PEM of some 800. */
export const MAX_NODE_ID: number = 4096;

/**
 * The payload of message 2: 64. Our choice: more than twice the longest that hubs send. An impostor needs some 130 free bits to
 * make one text that is JSON under two keys, and twice as many for three: a text of 64 bytes has about 170.
 */
export const MAX_MESSAGE_2_PAYLOAD: number = 64;

/** The depth of nested arrays and objects in JSON: 64. Our choice: the protocol's own messages need four. */
export const MAX_JSON_DEPTH: number = 64;

/** Pins in a keyring, and PSKs: 16. Our choice: whoever knows the password can answer under a new node id each time. */
export const MAX_HUBS: number = 16;

/** A public or private key, a PSK, a hash: 32 (Noise spec, sections 12.1 and 12.5, and "psk" in section 9). */
export const KEY_LENGTH: number = 32;

/** The metadata of a binary message: 255. Their length is one byte. */
export const MAX_METADATA: number = 255;

/** An MQTT topic in UTF-8: 65535 (MQTT 5.0, section 1.5.4). */
export const MAX_TOPIC: number = 65535;

/** Characters of the access key in an MQTT client id: 48. Our choice, and the public clients'. */
export const MAX_CLIENT_ID_KEY: number = 48;

/** Speech, display items and choices in one reply: 1000. Our choice: nobody reads more. */
export const MAX_REPLY_PARTS: number = 1000;

/**
 * The size of a reply, in UTF-16 units of text and of the items' JSON: 4 MiB. Our choice: room for images in base64.
 */
export const MAX_REPLY_SIZE: number = 4 * 1024 * 1024;

/** Requests of one connection that have not ended, and questions that wait for one: 10000. Our choice: some megabytes. */
export const MAX_REQUESTS: number = 10000;
