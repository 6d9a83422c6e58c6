/** The Rust client from crates.io (`rust/thalovant`), as a program that the tests steer. */
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { derivePsk } from '../../src/index.ts';
import { folder } from './certificate.ts';
import type { LineProgram } from './line-program.ts';
import { startRust, versionOf } from './rust.ts';

export const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511} of the kiosk';
export const NODE_ID = 'h\u00fcb \u{1f3e0}\nline two';
export const PSK: Uint8Array = derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: NODE_ID });
export const SHORT = '\u00e4';
export const LONG: string = `\u00e4${'x'.repeat(200_000)}`;

/** What all rows of the matrix have in common. */
export const ROW: { peer: string; version: string; role: 'client' } = {
  peer: 'thalovant for Rust',
  version: versionOf('thalovant'),
  role: 'client',
};

export interface Outcome {
  /** `ready`, or in one word what the client says went wrong. */
  outcome: string;
  /** What it says. */
  message?: string;
}

export class RustClient {
  readonly #program: LineProgram;

  /** Starts a client that keeps its keys in a folder of this name. */
  constructor(protocol: 'wss' | 'mqtt', store: string, identity: object) {
    const options = { protocol, store: join(folder, store), identity: { site_id: 'lobby', ...identity } };
    this.#program = startRust('thalovant-client', JSON.stringify(options));
  }

  async expectReady(): Promise<void> {
    assert.equal(await this.#program.read(), { outcome: 'ready' });
  }

  /** Ends the program, and returns what its connection came to. */
  async outcome(): Promise<Outcome> {
    const outcome = await this.#program.read<Outcome>();
    await this.end();
    return outcome;
  }

  /** Asks something and expects a reply. It dials again if it has no connection. */
  async ask(text: string, reply: string = text): Promise<void> {
    await this.#command({ ask: text }, { reply });
  }

  /** Says something, without waiting for a reply. */
  async say(text: string): Promise<void> {
    await this.#command({ say: text }, { said: text });
  }

  /** Asks for a file, which comes in a binary message. */
  async askForFile(text: string, file: Buffer): Promise<void> {
    await this.#command({ askForFile: text }, { file: file.toString('hex') });
  }

  /** Waits until the client has noticed that its connection is lost. */
  async expectLoss(): Promise<void> {
    await this.#command({ awaitLoss: true }, { lost: true });
  }

  async end(): Promise<void> {
    await this.#program.end();
  }

  async #command(command: object, answer: object): Promise<void> {
    this.#program.write(command);
    assert.equal(await this.#program.read(), answer);
  }
}
