/** XS on an emulated Cortex-M4 (machine.c), which runs program.js and counts instructions. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Transcript } from '../devices/peer.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const XS = path('../../test/engines/node_modules/xs-cortex-m4/xs.elf');

/** What program.js reads from recorded.js. Bytes are in hex. */
export interface Recorded {
  readonly connections: readonly (Transcript & {
    readonly name: string;
    readonly isPaced: boolean;
    readonly messages: readonly {
      readonly length: number;
      readonly sealed: string;
      /** Whether it is JSON, of this length in characters. */
      readonly isJson?: boolean;
    }[];
  })[];
  /** Connections that are repeated with the cryptography of a chip. */
  readonly counted?: Recorded['connections'];
  readonly json: { readonly [name: string]: string };
  readonly accessKey?: string;
  readonly keyring?: string;
}

/** The memory of the machine, which does not grow. */
export interface Memory {
  /** Bytes. */
  readonly chunks: number;
  /** Of 16 bytes each. */
  readonly slots: number;
}

/** What a step took. A slot is 16 bytes; everything else is in bytes. */
export interface Step {
  readonly step: string;
  readonly instructions: number;
  /** Live after the step, once garbage is collected. */
  readonly slots: number;
  readonly chunks: number;
  /** At the peak, with garbage. */
  readonly peakSlots: number;
  readonly peakChunks: number;
  /** At most, of XS's stack and of C's. */
  readonly stack: number;
  readonly cStack: number;
}

/**
 * Runs program.js.
 * @param file - the device file
 * @returns the steps, or why the program did not reach its end
 */
export async function runMachine(
  file: string,
  recorded: Recorded,
  memory?: Memory,
): Promise<Step[] | string> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  copyFileSync(file, join(folder, 'hub-protocol.js'));
  copyFileSync(path('program.js'), join(folder, 'program.js'));
  writeFileSync(join(folder, 'recorded.js'), `export default ${JSON.stringify(recorded)};\n`);
  writeFileSync(join(folder, 'arguments.txt'), `${memory?.chunks ?? 0} ${memory?.slots ?? 0}\n`);
  const board = '-machine mps2-an386 -nographic -monitor none -serial none -icount shift=0'.split(' ');
  const files = ['-semihosting-config', 'enable=on,target=native'];
  const { stdout } = await promisify(execFile)('qemu-system-arm', [...board, ...files, '-kernel', XS], {
    cwd: folder,
    timeout: 300_000,
  })
    .catch((error: { stdout?: string }) => {
      if (!error.stdout) throw error;
      return { stdout: error.stdout };
    })
    .finally(() => rmSync(folder, { recursive: true }));
  const lines = stdout.trim().split('\n');
  const last = lines.pop();
  return last === 'done' ? lines.map((line) => JSON.parse(line) as Step) : `${last}`;
}
