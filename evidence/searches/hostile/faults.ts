/** Faults of the client that the search must find: each breaks one law. */
import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';
import { type Patch, patched } from '../../rules/fault.ts';
import { root } from '../../rules/plant.ts';

export interface HostileFault {
  readonly name: string;
  readonly over: 'WebSocket' | 'page' | 'MQTT' | 'HTTPS';
  readonly patches: readonly Patch[];
}

const fault = (over: HostileFault['over'], name: string, ...patches: Patch[]): HostileFault => ({
  name,
  over,
  patches,
});
const [CLIENT, WS, PAGE, MQTT, HTTPS] = ['client', 'ws', 'page-socket', 'mqtt', 'https'].map(
  (name) => `client/src/${name}.ts`,
) as [string, string, string, string, string];

export const HOSTILE_FAULTS: readonly HostileFault[] = [
  fault('WebSocket', 'the timer of the pings outlives its socket', [
    WS,
    "  socket.on('close', () => clearInterval(pings));\n",
    '',
  ]),
  fault('WebSocket', 'what a hub says stays in memory', [
    WS,
    'connection.received(isBinary',
    '(globalThis.heard ??= []).push(data) && connection.received(isBinary',
  ]),
  fault('WebSocket', 'a hub that answers no ping is kept', [
    WS,
    'else if (!isAlive && patience-- === 0) socket.terminate();',
    '',
  ]),
  fault('WebSocket', 'the error of a socket is logged', [
    WS,
    "socket.on('error', (error) => {",
    "socket.on('error', (error) => {\n      console.error(error);",
  ]),
  fault('WebSocket', 'a question that was not sent never ends', [
    CLIENT,
    'if (!this.#answers.fail(event)) this.#tell(event);',
    'this.#tell(event);',
  ]),
  fault('WebSocket', 'a store that fails is not told to the link', [
    CLIENT,
    'failure = toError(error);',
    'throw error;',
  ]),
  fault('WebSocket', 'the client dials without the pause that it tells', [
    'src/link/machine.ts',
    'dialAt = now + after;',
    'dialAt = now;',
  ]),
  fault('page', 'the timer of the pings outlives its socket', [PAGE, 'clearInterval(pings);', '']),
  fault('MQTT', 'the timer of the pings outlives its connection', [
    MQTT,
    'clearInterval(pings);\n        if (',
    'if (',
  ]),
  fault('MQTT', 'a broker that answers no ping is kept', [
    MQTT,
    'keepalive: Math.ceil(pingEvery / 4000),',
    'keepalive: 0,',
  ]),
  fault('HTTPS', 'a request that is not answered is never given up', [
    HTTPS,
    'giveUp = () => {',
    'giveUp = () => {\n        if (Date.now() > 0) return;',
  ]),
  fault('HTTPS', 'sockets are kept after the end', [
    HTTPS,
    'earlier = earlier.then(() => agent.destroy());',
    '',
  ]),
];

/** Plants a fault while esbuild bundles the sources. */
export function planted({ patches }: HostileFault): Plugin {
  return {
    name: 'planted',
    setup(build) {
      const names = patches.map(([file]) => file.slice(file.lastIndexOf('/') + 1));
      build.onLoad({ filter: new RegExp(`/(?:${names.join('|')})$`) }, ({ path }) => {
        const own = patches.filter(([file]) => root(file) === path);
        return { contents: patched(readFileSync(path, 'utf8'), own), loader: 'ts' };
      });
    },
  };
}
