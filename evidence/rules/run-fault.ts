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
}

/** Its base64 has +, / and padding after the user agents `test` and `judge`. */
const ACCESS_KEY = 'kiosk-7~~~~~?????';

/**
 * @param isSpecOnly - judges without the choices; hubs over MQTT with them
 */
export async function runFault(place: Place, fault: Fault, isSpecOnly = false): Promise<Outcome> {
  const folder = temporaryFolder();
  try {
    const verdicts = await JUDGES[place](fault, folder, isSpecOnly);
    const failures = verdicts.filter(({ result }) => result === 'failed');
    const failed = failures.length;
    const first = failures[0]?.name ?? '';
    const defects = verdicts.filter(({ result }) => result === 'defect').length;
    const titles = groupFailures(verdicts).map(({ title }) => title);
    return {
      failed,
      defects,
      first,
      titles,
      names: failures.map(({ name, comment }) => `${name}, ${comment}`),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Judge = (fault: Fault, folder: string, isSpecOnly: boolean) => Promise<Verdict[]>;

const JUDGES: { readonly [place in Place]: Judge } = {
  async library(fault, folder, isSpecOnly) {
    const { createAdapter } = await import(
      await plantInLibrary('ports/typescript/adapter.ts', fault, folder)
    );
    const respond = createAdapter();
    const send = async (request: Fields): Promise<Fields> => {
      const fields = JSON.parse(JSON.stringify({ id: 1, ...request }));
      return JSON.parse(JSON.stringify(respond(fields)));
    };
    return runVectors({ adapter: { send, stop: async () => {} }, only: fault.only, isSpecOnly });
  },
  async python(fault, folder, isSpecOnly) {
    const args = [root('test/interop/python'), plantInPython(fault, folder)];
    const adapter = new ProcessAdapter({ command: 'bash', args, timeout: 60_000, verbose: false });
    try {
      return await runVectors({ adapter, only: fault.only, isSpecOnly });
    } finally {
      await adapter.stop();
    }
  },
  async client({ only, ...fault }, folder, isSpecOnly) {
    const { startClient } = await import(await plantInLibrary(PEERS, fault, folder));
    const start = (url: string): Stop => startClient(url, ACCESS_KEY, 'lobby').stop;
    return whileStarted(start, (onListening) =>
      listen({ ...HUB, accessKey: ACCESS_KEY, ...HOW, only, isSpecOnly, onListening }),
    );
  },
  async hub({ only, ...fault }, folder, isSpecOnly) {
    const { startHub } = await import(await plantInLibrary(PEERS, fault, folder));
    const { url, stop } = await startHub(ACCESS_KEY);
    const urlOf = (accessKey: string = ACCESS_KEY): string =>
      authorizedUrl(url, NODE_ID, accessKey, { allowPlaintext: true });
    try {
      return await connectTo({ ...HOW, only, isSpecOnly, urlOf });
    } finally {
      stop();
    }
  },
  async 'mqtt-client'({ only, ...fault }, folder, isSpecOnly) {
    const { startClient } = await import(await plantInLibrary(MQTT_PEERS, fault, folder));
    return whileStarted(
      (url) => startClient(url, MQTT_ACCESS_KEY),
      (onListening) =>
        listenOverMqtt({ ...HUB, accessKey: MQTT_ACCESS_KEY, ...HOW, only, isSpecOnly, onListening }),
    );
  },
  async 'mqtt-hub'({ only, ...fault }, folder) {
    const { startHub } = await import(await plantInLibrary(MQTT_PEERS, fault, folder));
    return whileStarted(
      (url) => startHub(url, MQTT_ACCESS_KEY),
      (onListening) => connectOverMqtt({ port: 0, accessKey: MQTT_ACCESS_KEY, ...HOW, only, onListening }),
    );
  },
};

type Stop = () => void;

/** Starts a peer once the judge listens, and stops it afterwards. */
async function whileStarted(
  start: (url: string) => Stop,
  judge: (onListening: (url: string) => void) => Promise<Verdict[]>,
): Promise<Verdict[]> {
  let stop: Stop = () => {};
  try {
    return await judge((url) => {
      stop = start(url);
    });
  } finally {
    stop();
  }
}

const PEERS = 'test/judge/peers.ts';
const MQTT_PEERS = 'test/judge/mqtt-peers.ts';
const MQTT_ACCESS_KEY = 'kiosk-7';
const HUB = { port: 0, nodeId: NODE_ID };
const HOW = { derivePsk: pskFor, patience: { message: 1500, long: 60_000, silence: 500 } };
