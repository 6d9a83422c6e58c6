/**
 * A client on Espruino, with cryptography from outside: Espruino interprets its source, so X25519 in JavaScript (`deviceCrypto`
 * of `hub-protocol.es5.js`) takes 1.4 s on a desktop, and far longer on a board. You provide `hub-crypto`, in C or on a secure
 * element: publicKey(private), sharedSecret(private, public), seal(key, nonce, associatedData, plaintext), and
 * open(key, nonce, associatedData, sealed), which returns undefined if the tag does not verify.
 *
 * Espruino's `ws` drops binary messages, so the socket is the bridge of `../bridge` at the other end of Serial1, which also
 * decides when to connect. Upload `../bridge/line.cjs` to Storage as `hub-line`. A character of Serial1 is a byte, which the session
 * decodes. Most builds of Espruino keep 8 bits of a character, so a hub whose name has characters above U+00FF cannot be reached.
 *
 * Upload to Storage also what `hub-protocol-cli provision` writes: the connection as `hub.connection`, the keyring as `hub.keyring`, and
 * the slot with room for changes: `Storage.write('hub.slot0', slot, 0, 4096)`, and the same as `hub.slot1`. A change is appended in
 * both, so this program makes no file, erases none, and never writes the keyring. Storage without room for another file moves all of
 * them, the keyring too, and a loss of power then loses some: let nothing else on the device fill it.
 *
 * Espruino knows a function only after the statement that declares it has run.
 */
// biome-ignore-all lint/complexity/noArguments: Espruino has no rest parameters
// biome-ignore-all lint/style/useNodejsImportProtocol: not Node's module
const hub = require('hub-protocol.core.es5');
const line = require('hub-line');
const chip = require('hub-crypto');
const hashes = require('crypto'); // Espruino's own
const storage = require('Storage');

const SLOTS = ['hub.slot0', 'hub.slot1'];
const ADDRESS = 1; // another one for each device on the same line
const MAX_MESSAGE = 4096; // bytes; longer messages are dropped
const MAX_FRAME = 8192; // bytes; longer transport messages end the session, before they take memory
const UNIT = 8; // bytes; some chips write no less
const ERASED = '\xff\xff\xff\xff\xff\xff\xff\xff';
const REQUEST = {
  msg_type: 'bus',
  payload: { type: 'recognizer_loop:utterance', data: { utterances: ['hello'] }, context: {} },
};

function toHex(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += (256 + bytes[i]).toString(16).substr(1);
  return text;
}

function fromHex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(text.substr(2 * i, 2), 16);
  return bytes;
}

const siteId = storage.readJSON('hub.connection').site_id;
const staticKey = fromHex(storage.readJSON('hub.keyring').static_key);

function bytesOf(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function textOf(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i]);
  return text;
}

/** SHA-256 of several concatenated arrays. */
function sha256(parts) {
  let length = 0;
  let at = 0;
  for (let i = 0; i < parts.length; i++) length += parts[i].length;
  const message = new Uint8Array(length);
  for (let i = 0; i < parts.length; i++) {
    message.set(parts[i], at);
    at += parts[i].length;
  }
  return new Uint8Array(hashes.SHA256(message));
}

function padded(key, value) {
  const block = new Uint8Array(64);
  for (let i = 0; i < 64; i++) block[i] = value ^ (i < key.length ? key[i] : 0);
  return block;
}

const crypto = {
  sha256: function () {
    return sha256(arguments);
  },
  hmacSha256: function (key) {
    const parts = [padded(key, 0x36)];
    for (let i = 1; i < arguments.length; i++) parts.push(arguments[i]);
    return sha256([padded(key, 0x5c), sha256(parts)]);
  },
  x25519: { publicKey: chip.publicKey, sharedSecret: chip.sharedSecret },
  ciphers: {
    ChaChaPoly: (key) => ({
      seal: (nonce, associatedData, plaintext) => chip.seal(key, nonce, associatedData, plaintext),
      open: (nonce, associatedData, sealed) => chip.open(key, nonce, associatedData, sealed),
    }),
  },
};

/** Where the free room in a file begins. */
function endOf(stored) {
  let end = stored.length;
  while (end >= UNIT && stored.substr(end - UNIT, UNIT) === ERASED) end -= UNIT;
  return end;
}

/** The last line of a slot, without what pads it; `undefined` if there is no file. */
function readSlot(name) {
  const stored = storage.read(name);
  if (stored === undefined) return undefined;
  const start = stored.lastIndexOf('\n') + 1; // the text is JSON in one line
  const line = stored.substr(start, endOf(stored) - start);
  return line.substr(0, line.lastIndexOf('}') + 1);
}

/** Appends a line to a slot, whose other lines stay. Throws if there is no room, or it cannot be read back. */
function appendToSlot(name, text) {
  const stored = storage.read(name);
  const end = stored === undefined ? 0 : endOf(stored);
  let line = '\n' + text;
  while (line.length % UNIT !== 0) line += ' ';
  if (end === 0 || end + line.length > stored.length) {
    throw new Error(name + ' has no room: provision the device again, with more');
  }
  storage.write(name, line, end); // returns false, or throws, if it fails
  if (readSlot(name) !== text) throw new Error(name + ' was not stored');
}

function storedSlots() {
  return SLOTS.map(readSlot);
}

const slots = storedSlots();
let changes = JSON.parse(hub.readSlots(slots)); // {pins, psks, …}: lists of {node_id, key}; a pin can have is_suspect

/** Stores a changed list of pins, or throws. */
function storePins(pins) {
  const changed = JSON.parse(JSON.stringify(changes));
  changed.pins = pins;
  const writes = hub.nextSlots(storedSlots(), JSON.stringify(changed));
  for (let i = 0; i < writes.length; i++) appendToSlot(SLOTS[writes[i].slot], writes[i].text);
  changes = changed;
}

if (slots[0] !== slots[1]) {
  try {
    storePins(changes.pins); // a loss of power has left only one slot
  } catch (error) {
    console.log('one slot is damaged: ' + error); // the next change fails too
  }
}

function fromStored(entries) {
  return entries.map((entry) => ({
    nodeId: entry.node_id,
    key: fromHex(entry.key),
    isSuspect: entry.is_suspect === true,
  }));
}

function randomBytes(length) {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = E.hwRand();
  return bytes;
}

let session;
let bridge; // the line to it

/** Makes the session of a new connection, with the options that the bridge's policy chose. */
function connecting(options) {
  session = new hub.ClientSession({
    crypto: crypto,
    siteId: siteId,
    keyring: { staticKey: staticKey, pins: fromStored(changes.pins), psks: fromStored(changes.psks) },
    randomBytes: randomBytes,
    maxMessage: MAX_MESSAGE,
    maxFrame: MAX_FRAME,
    patterns: options.patterns,
    onKkFailure: options.onKkFailure,
  });
}

function write(data) {
  bridge.send(typeof data === 'string' ? 't' + data : 'b' + textOf(data));
}

/** Reports an event to the bridge, for its policy. */
function report(event) {
  const error = event.error && { code: event.error.code };
  const told = { state: session.state, type: event.type, code: event.code, error: error };
  if (event.type === 'ended') {
    told.retry = event.retry;
    told.reason = event.reason;
    told.pattern = event.pattern;
  }
  bridge.send('e' + JSON.stringify(told));
}

/**
 * Stores what an event changes.
 * @param {import('hub-protocol.core.es5').SessionEvent} event
 * @returns whether the session may go on
 */
function remember(event) {
  if (event.type !== 'pin' && event.type !== 'pin-suspect') return true;
  const pins = changes.pins.filter((pin) => pin.node_id !== event.nodeId);
  if (event.type === 'pin') pins.push({ node_id: event.nodeId, key: toHex(event.key) });
  else {
    const old = changes.pins.filter((pin) => pin.node_id === event.nodeId)[0];
    pins.push({ node_id: event.nodeId, key: old.key, is_suspect: true });
  }
  try {
    storePins(pins);
    return true;
  } catch (error) {
    console.log('the pins were not stored: ' + error);
    if (event.type === 'pin') return false; // the old pin stays
    changes.pins = pins; // until the next start
    return true;
  }
}

/**
 * Handles events in their order. Message 3 comes after the pin: it must not be sent if the pin was not stored.
 * @param {import('hub-protocol.core.es5').SessionEvent[]} events
 */
function run(events) {
  for (let i = 0; i < events.length; i++) {
    if (!remember(events[i])) {
      run(session.closed());
      return;
    }
    handle(events[i]);
  }
}

/** @param {import('hub-protocol.core.es5').SessionEvent} event */
function handle(event) {
  if (event.type === 'transmit') write(event.data);
  else report(event);
  if (event.type === 'ready') session.sendJson(REQUEST).forEach(write);
  if (event.type === 'message') console.log(event.kind, event.kind === 'json' ? event.text : event.bytes);
  if (event.type === 'dropped') console.log('a message of ' + event.bytes + ' bytes was dropped');
  if (event.type === 'psk-needed') console.log('no PSK for this hub: provision the device again');
  // The PSK is provisioned, so it stays: nothing on the device could replace it.
  if (event.type === 'psk-suspect') console.log('the PSK of this hub is wrong: provision the device again');
  if (event.type === 'close' || event.type === 'psk-needed') run(session.closed());
}

/** Handles a message of the bridge. */
function received(message) {
  const kind = message[0];
  const body = message.substr(1);
  if (kind === 'n') connecting(JSON.parse(body));
  else if (session === undefined) return;
  else if (kind === 'd') run(session.closed(JSON.parse(body)));
  else if (kind === 'b') run(session.receive(bytesOf(body)));
  // Once the session is encrypted, bytes are transport messages, and an envelope is text.
  else if (kind === 't') run(session.receive(session.state === 'ready' ? body : bytesOf(body)));
}

bridge = line.openLine({
  address: ADDRESS,
  longest: 1 + MAX_FRAME + 1, // the kind, and one byte by which the session sees that a message is too long
  write: (bytes) => Serial1.write(bytes),
  begin: () => {
    session = undefined;
  },
  receive: received,
});

Serial1.setup(115200);
Serial1.on('data', (data) => {
  try {
    bridge.received(data);
  } catch (error) {
    console.log('the session failed: ' + error); // such as a failed allocation: the bridge begins anew
    session = undefined;
  }
});
