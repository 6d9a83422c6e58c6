/**
 * Runs the example for Espruino in Node.js, with stand-ins for Espruino's modules and its serial line. As in Espruino, each statement
 * of the program is a script of its own, which knows no function that is declared below it.
 */
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';
import { parse } from 'acorn';
import { createKeyring, nextSlots, serializeChanges, serializeKeyring, storePsk } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { type Device, SerialLine } from '../../examples/bridge/serial-line.ts';
import type { EspruinoStorage } from './flash.ts';

const SOURCE = readFileSync(new URL('../../examples/espruino/main.js', import.meta.url), 'utf8');
const core = { exports: {} };
const file = new URL('../../dist/hub-protocol.core.es5.js', import.meta.url);
new Function('module', readFileSync(file, 'utf8'))(core);
const line = createRequire(import.meta.url)('../../examples/bridge/line.cjs');
/** The statements of a program, which the tests start often. */
const scripts = new Map<string, Script[]>();
const statementsOf = (source: string): Script[] =>
  parse(source, { ecmaVersion: 2015 }).body.map(({ start, end }) => new Script(source.slice(start, end)));
const cipher = (key: Uint8Array) => nodeCrypto.ciphers.ChaChaPoly!(key);

/** The files of a device that was provisioned. */
export function filesOf(
  accessKey: string,
  staticKey: Uint8Array,
  psks: readonly { nodeId: string; key: Uint8Array }[],
): [string, string][] {
  let keyring = createKeyring({ accessKey, staticKey });
  for (const { nodeId, key } of psks) keyring = storePsk(keyring, nodeId, key, { isProvisioned: true });
  return [
    ['hub.connection', JSON.stringify({ access_key: accessKey, site_id: 'lobby' })],
    ['hub.keyring', serializeKeyring(keyring)],
    ...nextSlots([], serializeChanges(keyring)).map(({ slot, text }): [string, string] => [
      `hub.slot${slot}`,
      text,
    ]),
  ];
}

/**
 * Starts the program as at power-up.
 * @param write - takes what it writes to the serial line
 * @param edit - plants a mistake in the program
 * @returns a function that passes it characters of the serial line
 */
export function bootEspruino(
  flash: EspruinoStorage,
  write: (bytes: string) => void,
  log: (...all: unknown[]) => void,
  edit: (source: string) => string = (source) => source,
): (data: string) => void {
  const modules: { readonly [name: string]: unknown } = {
    'hub-protocol.core.es5': core.exports,
    'hub-line': line,
    'hub-crypto': {
      ...nodeCrypto.x25519,
      seal: (key: Uint8Array, ...rest: [Uint8Array, Uint8Array, Uint8Array]) => cipher(key).seal(...rest),
      open: (key: Uint8Array, ...rest: [Uint8Array, Uint8Array, Uint8Array]) => cipher(key).open(...rest),
    },
    crypto: { SHA256: (bytes: Uint8Array) => nodeCrypto.sha256(bytes).buffer },
    Storage: {
      read: (name: string) => flash.get(name),
      readJSON: (name: string) => JSON.parse(flash.get(name)!),
      write: (name: string, text: string, offset?: number, size?: number) =>
        flash.write(name, text, offset, size),
    },
  };
  let onData: (data: string) => void = () => {};
  const serial = {
    setup() {},
    on: (_event: 'data', callback: typeof onData) => {
      onData = callback;
    },
    write: (bytes: string) => {
      if (!flash.isOff) write(bytes);
    },
  };
  const require = (name: string) => modules[name];
  const chip = { hwRand: () => randomBytes(1)[0] };
  const context = createContext({ require, Serial1: serial, E: chip, console: { log } });
  const source = edit(SOURCE);
  if (!scripts.has(source)) scripts.set(source, statementsOf(source));
  for (const statement of scripts.get(source)!) statement.runInContext(context);
  return (data) => onData(data);
}

/**
 * Starts the program with a bridge's end of the line, on which no time passes: what the bridge sends, and what the device answers to
 * it, arrives before `send` returns.
 */
export function espruinoOnLine(
  received: (message: string) => void,
  ...[flash, log, edit]: [EspruinoStorage, (...all: unknown[]) => void, ((source: string) => string)?]
): Device {
  const stream = new EventEmitter();
  const device = bootEspruino(flash, (bytes) => stream.emit('data', Buffer.from(bytes, 'latin1')), log, edit);
  const write = (bytes: Buffer): void => device(bytes.toString('latin1'));
  const clock = { now: () => 0, setTimeout: () => 0, clearTimeout() {} };
  const serial = new SerialLine(Object.assign(stream, { write, destroyed: false }), { baud: 1, clock });
  return serial.add(1, { begun() {}, received, drained() {} });
}
