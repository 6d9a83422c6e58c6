/** The topics of the judge and the implementation under test on the judge's broker. */
import { CannotRun } from '../adapter.ts';
import { utf8ToBytes } from '../protocol.ts';

export const BASE = 'hivemind/judge';

export interface ClientTopics {
  readonly in: string;
  readonly out: string;
  readonly status: string;
}

/** @throws CannotRun for an access key that cannot be a level of a topic */
export function topicsOf(accessKey: string): ClientTopics {
  if (/[+#/]/.test(accessKey)) {
    throw new CannotRun(
      'over MQTT the access key is a level of topics, which contains no +, # or /: give the client another one',
    );
  }
  const prefix = `${BASE}/${accessKey}`;
  return { in: `${prefix}/in`, out: `${prefix}/out`, status: `${prefix}/status` };
}

/** Over MQTT cleartext travels as bytes, too. */
export function payloadOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? utf8ToBytes(data) : data;
}
