/** Plants one fault, judges it, and says which test notices it. */
import { rmSync } from 'node:fs';
import { type Fields, ProcessAdapter } from '../../judge/src/adapter.ts';
import { groupFailures } from '../../judge/src/groups.ts';
import { connectTo } from '../../judge/src/live/connect.ts';
import { listen } from '../../judge/src/live/listen.ts';
import { connectOverMqtt } from '../../judge/src/live/mqtt-connect.ts';
import { listenOverMqtt } from '../../judge/src/live/mqtt-listen.ts';
import { authorizedUrl } from '../../judge/src/protocol.ts';
import { runVectors } from '../../judge/src/run-vectors.ts';
import type { Verdict } from '../../judge/src/verdict.ts';
import { NODE_ID, pskFor } from '../../test/judge/peers.ts';
import type { Fault } from './fault.ts';
import { plantInLibrary, plantInPython, root, temporaryFolder } from './plant.ts';

export type Place = 'library' | 'python' | 'client' | 'hub' | 'mqtt-client' | 'mqtt-hub';

export interface Outcome {
  readonly failed: number;
  readonly defects: number;
  /** The first test that failed; empty if none did. */
  readonly first: string;
  /** The tests that failed. */
  readonly names: readonly string[];
  /** The titles of the groups in the report. */
  readonly titles: readonly string[];
  readonly seconds: number;
}

/** Its base64 has +, / and padding after the user agents `test` and `judge`. */
const ACCESS_KEY = 'kiosk-7~~~~~?????';

/**
 * @param runsAll - runs every operation or scene, not only those of the fault
 * @param isSpecOnly - judges without the choices; hubs over MQTT with them
 */
export async function runFault(
  place: Place,
  fault: Fault,
  runsAll: boolean,
  isSpecOnly = false,
): Promise<Outcome> {
  const start = performance.now();
  const folder = temporaryFolder();
  try {
    const verdicts = await JUDGES[place](fault, folder, runsAll ? undefined : fault.only, isSpecOnly);
    const failures = verdicts.filter(({ result }) => result === 'failed');
    const failed = failures.length;
    const first = failures[0]?.name ?? '';
    const defects = verdicts.filter(({ result }) => result === 'defect').length;
    const titles = groupFailures(verdicts).map(({ title }) => title);
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    return {
      failed,
      defects,
      first,
      titles,
      seconds,
      names: failures.map(({ name, comment }) => `${name}, ${comment}`),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Judge = (
  fault: Fault,
  folder: string,
  only: readonly string[] | undefined,
  isSpecOnly: boolean,
) => Promise<Verdict[]>;

const JUDGES: { readonly [place in Place]: Judge } = {
  async library(fault, folder, only, isSpecOnly) {
    const { createAdapter } = await import(
      await plantInLibrary('ports/typescript/adapter.ts', fault, folder)
    );
    const respond = createAdapter();
    const send = async (request: Fields): Promise<Fields> => {
      const fields = JSON.parse(JSON.stringify({ id: 1, ...request }));
      return JSON.parse(JSON.stringify(respond(fields)));
    };
    return runVectors({ adapter: { send, stop: async () => {} }, only, isSpecOnly });
  },
  python: (fault, folder, only, isSpecOnly) => judgePython([plantInPython(fault, folder)], only, isSpecOnly),
  async client(fault, folder, only, isSpecOnly) {
    const { startClient } = await import(await plantInLibrary('test/judge/peers.ts', fault, folder));
    let stop = (): void => {};
    const onListening = (url: string): void => {
      stop = startClient(url, ACCESS_KEY, 'lobby').stop;
    };
    const hub = { port: 0, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening };
    try {
      return await listen({ ...hub, derivePsk: pskFor, patience: PATIENCE, only, isSpecOnly });
    } finally {
      stop();
    }
  },
  async hub(fault, folder, only, isSpecOnly) {
    const { startHub } = await import(await plantInLibrary('test/judge/peers.ts', fault, folder));
    const { url, stop } = await startHub(ACCESS_KEY);
    const urlOf = (accessKey: string = ACCESS_KEY): string =>
      authorizedUrl(url, NODE_ID, accessKey, { allowPlaintext: true });
    try {
      return await connectTo({ derivePsk: pskFor, patience: PATIENCE, only, isSpecOnly, urlOf });
    } finally {
      stop();
    }
  },
  async 'mqtt-client'(fault, folder, only, isSpecOnly) {
    const { startClient } = await import(await plantInLibrary(MQTT_PEERS, fault, folder));
    let stop = (): void => {};
    const onListening = (url: string): void => {
      stop = startClient(url, MQTT_ACCESS_KEY);
    };
    const hub = { port: 0, nodeId: NODE_ID, accessKey: MQTT_ACCESS_KEY, onListening };
    try {
      return await listenOverMqtt({ ...hub, derivePsk: pskFor, patience: PATIENCE, only, isSpecOnly });
    } finally {
      stop();
    }
  },
  async 'mqtt-hub'(fault, folder, only) {
    const { startHub } = await import(await plantInLibrary(MQTT_PEERS, fault, folder));
    let stop = (): void => {};
    const onListening = (url: string): void => {
      stop = startHub(url, MQTT_ACCESS_KEY);
    };
    const client = { port: 0, accessKey: MQTT_ACCESS_KEY, onListening };
    try {
      return await connectOverMqtt({ ...client, derivePsk: pskFor, patience: PATIENCE, only });
    } finally {
      stop();
    }
  },
};

const MQTT_PEERS = 'test/judge/mqtt-peers.ts';
const MQTT_ACCESS_KEY = 'kiosk-7';
const PATIENCE = { message: 1500, long: 60_000, silence: 500 };

async function judgePython(
  args: string[],
  only: readonly string[] | undefined,
  isSpecOnly: boolean,
): Promise<Verdict[]> {
  const program = [root('test/interop/python'), ...args];
  const adapter = new ProcessAdapter({ command: 'bash', args: program, timeout: 60_000, verbose: false });
  try {
    return await runVectors({ adapter, only, isSpecOnly });
  } finally {
    await adapter.stop();
  }
}
