/**
 * A program that connects to hosts that the platform refuses, by each entry of the client, and prints how many times each code
 * came: `refused-hosts-program.ts COUNT`. The last round is a platform whose URL class accepts everything, as React Native's.
 */
import { createKeyring, type Keyring, type LocalError, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import type { Client } from 'hub-protocol-client';
import { connect as websocket } from 'hub-protocol-client';
import { connect as browser } from 'hub-protocol-client/browser';
import { connect as https } from 'hub-protocol-client/https';
import { connect as mqtt } from 'hub-protocol-client/mqtt';
import { connect as reactNative } from 'hub-protocol-client/react-native';
import { WebSocket } from 'ws';
import { ACCESS_KEY, issuedWith, refusedHosts } from '../world/hosts.ts';

Object.assign(globalThis, { WebSocket });

const identities = refusedHosts(Number(process.argv[2])).map((host) => parseIdentity(issuedWith(host)));
const stored: Keyring = createKeyring({ accessKey: ACCESS_KEY, staticKey: randomBytes(32), crypto });
const keyring = { load: () => stored, update: () => {} };
const texts = new Map<string, string>();
const storage = {
  getItem: (name: string) => texts.get(name) ?? null,
  setItem: (name: string, text: string) => void texts.set(name, text),
};
const derive = (): Promise<Uint8Array> => Promise.reject(new Error('nothing needs a PSK'));
type Identity = (typeof identities)[number];

async function count(name: string, connect: (identity: Identity) => Client): Promise<void> {
  const counts: Record<string, number> = {};
  for (const identity of identities) {
    const code = await outcome(() => connect(identity));
    counts[code] = (counts[code] ?? 0) + 1;
  }
  console.log(JSON.stringify({ name, counts }));
}

/** The code of the error that `connect` throws, or that the first connection ends with. */
async function outcome(start: () => Client): Promise<string> {
  try {
    const client = start();
    const error = await new Promise<Error>((resolve) => client.on('close', (event) => resolve(event.error)));
    client.end();
    return codeOf(error);
  } catch (error) {
    return codeOf(error);
  }
}

/** Whoever logs errors may log all of one. */
function codeOf(error: unknown): string {
  console.error(error, JSON.stringify(error), (error as Error).stack, (error as LocalError).cause);
  return (error as LocalError).code;
}

await count('websocket', (identity) => websocket({ identity, keyring }));
await count('https', (identity) => https({ identity, keyring }));
await count('mqtt', (identity) => mqtt({ identity, keyring }));
await count('browser', (identity) => browser({ identity, keyring, derive }));
await count('react-native', (identity) => reactNative({ identity, storage, derive }));
Object.assign(globalThis, { URL: class {} });
await count('a lax platform', (identity) => reactNative({ identity, storage, derive }));
process.exit();
