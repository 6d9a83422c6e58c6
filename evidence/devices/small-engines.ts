/**
 * What the ES5 files take in MicroQuickJS: a session of each pattern with our own cryptography, a message of 1 KiB each way, and
 * longer ones. MicroQuickJS has one buffer for everything, so the smallest in which a program runs is what it takes, to the KiB.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { grouped } from '../../tools/draw.ts';
import { hex, Peer, textOf } from './peer.ts';

const KB = 1024;
/** The most memory that is tried, in KiB. */
const MOST = 1024;

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const MICRO_QUICKJS = path('../../test/engines/node_modules/micro-quickjs-32/mqjs');
const CORE = path('../../dist/hub-protocol.core.es5.js');
const DEVICE = path('../../dist/hub-protocol.es5.js');

const whatOf = (pattern: string): string => `${pattern}, and 1 KiB each way`;

/** The lengths of the longer messages, in characters: an utterance at the limit, and one of 16 000. */
const LONGER = [5106, 16_000];
/** What is done with them. The program makes the text that it sends, so that it is in memory too. */
const WAYS: { readonly [way: string]: (length: number, message: string) => string } = {
  'sent as text': (length) => `send('"' + text(${length - 2}) + '"');`,
  'sent as an object': (length) => `send({ a: text(${length - 8}) });`,
  received: (_length, message) => `expect('message', bytes('${message}'));`,
  'received with `inPlace`': (_length, message) => `expect('message', bytes('${message}'));`,
};

/** A script that opens a session, and sends and receives 1 KiB, or does something else. */
function session(pattern: 'XXpsk2' | 'KKpsk0', way?: string, length = KB): string {
  const peer = new Peer(pattern);
  const { keys, hello, offer, message2 } = peer.transcript();
  const { privateKey, publicKey, ephemeralKey, psk, pin } = keys;
  const [sealed] = peer.json(1, length);
  const message = hex(sealed!);
  const both = `send(${JSON.stringify(textOf(KB))}); expect('message', bytes('${message}'));`;
  const entry = (key: string): string => `[{ nodeId: 'hub-1', key: bytes('${key}') }]`;
  return `(function () {
    function bytes(hex) {
      var all = new Uint8Array(hex.length / 2);
      for (var i = 0; i < all.length; i++) all[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
      return all;
    }
    function expect(type, data) {
      var events = session.receive(data);
      for (var i = 0; i < events.length; i++) if (events[i].type === type) return;
      throw new Error('no ' + type);
    }
    function text(length) {
      var text = 'x';
      while (2 * text.length <= length) text += text;
      return text + text.substring(0, length - text.length);
    }
    function send(content) {
      if (session.sendJson(content).length !== 1) throw new Error('not sent');
    }
    var session = new hubProtocol.ClientSession({
      crypto: hubProtocol.deviceCrypto,
      siteId: 'lobby',
      inPlace: ${way?.includes('inPlace') === true},
      randomBytes: function () { return bytes('${ephemeralKey}'); },
      keyring: {
        staticKey: { privateKey: bytes('${privateKey}'), publicKey: bytes('${publicKey}') },
        pins: ${pin === undefined ? '[]' : entry(pin)},
        psks: ${entry(psk)}
      }
    });
    session.receive(${JSON.stringify(hello)});
    expect('transmit', ${JSON.stringify(offer)});
    expect('ready', ${JSON.stringify(message2)});
    ${way === undefined ? both : WAYS[way]!(length, message)}
  })();`;
}

/** A row of the table, in bytes. */
export interface Small {
  readonly engine: string;
  readonly what: string;
  readonly flash?: number;
  readonly peak: number;
  /** Of the message, in characters, if it is longer than 1 KiB. */
  readonly length?: number;
}

export function measureSmallEngines(): Small[] {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const script = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  try {
    return microQuickJs(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }

  function microQuickJs(folder: string): Small[] {
    const engine = 'MicroQuickJS for 32 bits';
    const compiled = join(folder, 'compiled.bin');
    const least = (...args: string[]): number => {
      const runs = (size: number): boolean =>
        spawnSync(MICRO_QUICKJS, ['--memory-limit', String(size * KB), ...args]).status === 0;
      let [fails, works] = [4, MOST];
      if (!runs(works)) throw new Error(`MicroQuickJS does not run ${args.map((arg) => basename(arg))}`);
      while (works - fails > 1) {
        const middle = (fails + works) >> 1;
        if (runs(middle)) works = middle;
        else fails = middle;
      }
      return works * KB;
    };
    /** Compiles a file of the folder. The result has the path that is given here, so it is the name alone. */
    const compile = (name: string): number => {
      rmSync(compiled, { force: true }); // so that a file that does not compile has no size
      execFileSync(MICRO_QUICKJS, ['--no-column', '-o', basename(compiled), name], { cwd: folder });
      return statSync(compiled).size;
    };
    const rows: Small[] = [];
    for (const file of [CORE, DEVICE]) {
      const name = basename(file);
      rows.push({ engine, what: `load ${name}`, flash: statSync(file).size, peak: least(file) });
      copyFileSync(file, join(folder, name));
      rows.push({
        engine,
        what: `load ${name}, compiled`,
        flash: compile(name),
        peak: least('-b', compiled),
      });
    }
    for (const pattern of ['KKpsk0', 'XXpsk2'] as const) {
      compile(basename(script(`${pattern}.js`, readFileSync(DEVICE, 'utf8') + session(pattern))));
      rows.push({ engine, what: `${whatOf(pattern)}, compiled`, peak: least('-b', compiled) });
    }
    for (const way of Object.keys(WAYS)) {
      for (const length of LONGER) {
        compile(basename(script('long.js', readFileSync(DEVICE, 'utf8') + session('XXpsk2', way, length))));
        rows.push({
          engine,
          what: `XXpsk2, and ${grouped(length)} characters ${way}`,
          length,
          peak: least('-b', compiled),
        });
      }
    }
    return rows;
  }
}
