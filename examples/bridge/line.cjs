/**
 * The device's half of the line to a bridge: an ES5 module for any engine, without timers, since a device only answers.
 * README.md describes the frames. A character is a byte.
 */
// biome-ignore-all lint/style/useTemplate: ES5
// biome-ignore-all lint/suspicious/noVar: ES5
// biome-ignore-all lint/correctness/noInnerDeclarations: ES5
// biome-ignore-all lint/complexity/useArrowFunction: ES5
var BEGIN = 'b';
var MORE = 'm';
var END = 'e';
var QUERY = 'q';
var ALIVE = 'a';
var LOST = 'l';

var FROM_DEVICE = 128; // added to the address
var ROOM = 240; // bytes of a message in one frame: with header and check less than the 254 at which COBS would divide it
var LONGEST_FRAME = ROOM + 10;

/** CRC-32 of the sixteen values of half a byte. */
var CRCS = [
  0, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320,
  0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
];

/** CRC-32 of some bytes, in four bytes. */
function checkOf(bytes) {
  var crc = -1;
  for (var i = 0; i < bytes.length; i++) {
    crc ^= bytes.charCodeAt(i);
    crc = CRCS[crc & 15] ^ (crc >>> 4);
    crc = CRCS[crc & 15] ^ (crc >>> 4);
  }
  crc = ~crc;
  return String.fromCharCode(crc >>> 24, (crc >>> 16) & 255, (crc >>> 8) & 255, crc & 255);
}

/** A frame with its check, in which only the last byte is 0. */
function encode(content) {
  var runs = (content + checkOf(content)).split('\0');
  var frame = '';
  for (var i = 0; i < runs.length; i++) frame += String.fromCharCode(runs[i].length + 1) + runs[i];
  return frame + '\0';
}

/** The content of a frame without its last byte; `undefined` if it is damaged. */
function decode(frame) {
  var bytes = '';
  var next = 0;
  while (next < frame.length) {
    var start = next + 1;
    next += frame.charCodeAt(next);
    bytes += '\0' + frame.substring(start, next);
  }
  var end = bytes.length - 4;
  var content = bytes.substring(1, end);
  return end > 4 && checkOf(content) === bytes.substring(end) ? content : undefined;
}

/**
 * Opens a device's end of the line.
 *
 * @param {object} device
 * @param {number} device.address - 1 to 127, of this device alone
 * @param {(bytes: string) => void} device.write - writes to the line
 * @param {() => void} device.begin - the bridge or the device has started: forget the session
 * @param {(message: string) => void} device.receive - takes a message
 * @param {number} device.longest - bytes of a message; the rest of a longer one is dropped
 * @param {number} [device.room] - 1 to 240: bytes of a message in one frame, at most 10 less than the line's buffer holds
 */
function openLine(device) {
  var room = device.room || ROOM;
  var begun; // by which BEGIN; undefined before the first one, and after a failure
  var turn; // the number of the last question
  var answer; // to it
  var incoming = ''; // a message, as far as it has arrived
  var outgoing = []; // messages; the first without what the bridge has been given
  var rest = ''; // of the last bytes, which end no frame

  function frameOf(kind, payload) {
    var header = String.fromCharCode(FROM_DEVICE + device.address) + kind;
    return encode(header + String.fromCharCode(turn, room) + payload);
  }

  /** An answer with as much of the next message as the bridge takes. */
  function nextAnswer(most) {
    if (outgoing.length === 0) return frameOf(END, '');
    var message = outgoing[0];
    if (message.length <= most) {
      outgoing.shift();
      return frameOf(END, message);
    }
    outgoing[0] = message.substring(most);
    return frameOf(MORE, message.substring(0, most));
  }

  /** The answer to a question. */
  function answerTo(question) {
    var kind = question[1];
    var number = question.charCodeAt(2);
    var payload = question.substring(4);
    var before = begun;
    if (kind === BEGIN && payload !== before) {
      begun = undefined;
      incoming = '';
      outgoing = [];
      turn = number;
      device.begin();
      answer = frameOf(BEGIN, payload);
      begun = payload;
      return answer;
    }
    if (before === undefined) {
      turn = number;
      return frameOf(LOST, '');
    }
    if (kind === QUERY) return frameOf(ALIVE, '');
    if (number === turn) return answer; // the bridge did not get it
    begun = undefined; // until all is done: after a failure the bridge begins anew
    var isNext = number === ((turn + 1) & 255);
    turn = number;
    if (!isNext) return frameOf(LOST, '');
    var message = (incoming + payload).substring(0, device.longest);
    incoming = kind === END ? '' : message;
    if (kind === END && message !== '') device.receive(message);
    answer = nextAnswer(question.charCodeAt(3));
    begun = before;
    return answer;
  }

  return {
    /** Takes bytes from the line. Throws what the device's functions throw; the bridge then begins anew. */
    received: function (bytes) {
      var frames = (rest + bytes).split('\0');
      rest = frames.pop().substring(0, LONGEST_FRAME + 1);
      var reply = '';
      for (var i = 0; i < frames.length; i++) {
        var question = decode(frames[i]);
        if (question === undefined) continue;
        reply = question.charCodeAt(0) === device.address ? answerTo(question) : '';
      }
      // After an old question others may be speaking already.
      if (reply !== '' && rest === '') device.write(reply);
    },
    /** Sends a message of at least one byte, once the bridge asks for it. */
    send: function (message) {
      outgoing.push(message);
    },
  };
}

module.exports = { openLine: openLine, encode: encode, decode: decode };
