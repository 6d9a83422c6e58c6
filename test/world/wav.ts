/** Sounds for tests: mono, 16 kHz, 16 bits, as HiveMind's hub takes them. */
const RATE = 16_000;

/** The samples of a tone that never reach zero for long. */
export function tone(hertz: number, seconds: number): Buffer {
  const samples = Buffer.alloc(2 * Math.round(RATE * seconds));
  for (let at = 0; at < samples.length; at += 2) {
    samples.writeInt16LE(Math.round(12_000 * Math.sin((2 * Math.PI * hertz * at) / 2 / RATE)), at);
  }
  return samples;
}

/** Samples as a WAV file. */
export function wav(samples: Buffer): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF____WAVEfmt ____________________data', 'latin1');
  header.writeUInt32LE(36 + samples.length, 4);
  header.writeUInt32LE(16, 16); // the length of the format
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // channels
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(2 * RATE, 28); // bytes a second
  header.writeUInt16LE(2, 32); // bytes a sample
  header.writeUInt16LE(16, 34); // bits a sample
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
