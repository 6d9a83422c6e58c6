/** The clients of a hub that restarts: when they come back, as a histogram. */
import { createKeyring } from '../../../src/index.ts';
import { Clock } from '../../../test/world/clock.ts';
import { CLIENT_STATIC } from '../../../test/world/keys.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import { Client, withPauses } from './client.ts';

export const CLIENTS = 2000;
/** How long the hub is away, in seconds. */
export const AWAY = 30;
/** Milliseconds until a client knows that the hub is away. */
const REFUSAL = 50;

const OPTIONS = {
  crypto: toyCrypto,
  keyring: createKeyring({ accessKey: 'key', staticKey: CLIENT_STATIC, crypto: toyCrypto }),
};

/** Clients lose their hub at once. Returns how many dial it once it is back, by the second. */
export function returnOf(clients: number, seconds: number): number[] {
  const clock = new Clock();
  const accepted: number[] = Array(seconds).fill(0);
  for (let seed = 1; seed <= clients; seed++) {
    const randomBytes = withPauses(seed, (length) => new Uint8Array(length).fill(3));
    const client = new Client({ ...OPTIONS, randomBytes }, clock, {
      open(connection) {
        const second = Math.floor(clock.now / 1000);
        const lose = (): void => client.call('closed', connection, { code: 1006 });
        if (second < AWAY) clock.after(connection === 1 ? 0 : REFUSAL, lose);
        else {
          accepted[second]!++;
          client.call('end');
        }
        return { send() {}, close() {} };
      },
      derive() {},
      hear() {},
    });
    client.call('start');
  }
  clock.runUntil(seconds * 1000 - 1);
  return accepted;
}
