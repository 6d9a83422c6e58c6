/**
 * Questions to a mesh of hubs. Their answers are envelopes of the same type, which name the query and the hub that answers:
 * docs/reference/requests.md, "Beyond the hub".
 */
import {
  type ClientLink,
  type HubEvent,
  type JsonObject,
  LocalError,
  readHubEvent,
  readSpeech,
} from 'hub-protocol';
import { ReplyCollector } from 'hub-protocol/parts';
import { costOf, type Share, weightOf } from './account.ts';
import { tellingOfAnswer } from './advice.ts';
import { reasonOf } from './answers.ts';
import { asUncaught } from './listeners.ts';
import type { CascadeOptions, ClientEvent, MeshAnswer } from './options.ts';

type Listening = {
  readonly [Type in ClientEvent['type']]?: (event: Extract<ClientEvent, { type: Type }>) => void;
};

/** A client, as far as a query needs it. */
interface Asker {
  readonly state: ClientLink['state'];
  send(envelope: JsonObject): boolean;
  on(type: ClientEvent['type'], listener: () => void): unknown;
  off(type: ClientEvent['type'], listener: () => void): unknown;
}

export interface Query {
  readonly type: 'query' | 'cascade';
  /** The id that the answers carry. */
  readonly queryId: string;
  /** From `wrap`. */
  readonly envelope: JsonObject;
  /** Whether no other question is open, so that a refusal is one of this query. */
  isAlone(): boolean;
  /** Why there is no connection, as the client has told last. */
  readonly obstacle: Error | undefined;
  /** Why questions do not wait: see `isLasting`. */
  readonly asked: Error | undefined;
  /** What the answers may take together. It ends them with an error if all that is held is too much. */
  share(end: (error: Error) => void): Share;
}

/** Whether no question waits while a person is asked about an error. Certificates are renewed, and hubs updated, without this client. */
export function isLasting(error: Error): boolean {
  const { code } = error as { code?: string };
  return code !== 'certificate-refused' && code !== 'protocol-version';
}

/** How long to wait for answers, in milliseconds. HiveMind's hub gives its own agent eight seconds to begin. */
const TIMEOUTS = { query: 60_000, cascade: 10_000 } as const;
/** The most hubs whose answers are kept. */
const MOST_HUBS = 256;

/**
 * Sends a query as soon as a connection is ready, and collects its answer, or the answers to a cascade until the timeout.
 * @throws the error of the connection that has ended before any answer; the latest one, if none was ready within the timeout;
 *   that of a person's question; `session-over` after `end`; the reason of the signal
 */
export async function collectAnswers(
  client: Asker,
  { type, queryId, envelope, isAlone, obstacle, asked, share: shareFor }: Query,
  { timeout = TIMEOUTS[type], signal, onAnswer }: CascadeOptions,
): Promise<MeshAnswer[]> {
  /** The answers of hubs that have not completed them. */
  const open = new Map<string, ReplyCollector>();
  const answers = new Map<string, MeshAnswer>();
  /** The hubs that have said more than is kept. */
  const cut = new Set<string>();
  let cause: Error = obstacle ?? new LocalError('wrong-state', 'no connection was ready in time');
  let isSent = false;
  let resolve: (answers: MeshAnswer[]) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const ended = new Promise<MeshAnswer[]>((...settle) => {
    [resolve, reject] = settle;
  });

  const share = shareFor((error) => reject(error));

  const collectorOf = (hub: string): ReplyCollector => {
    const collector = open.get(hub) ?? new ReplyCollector({ requestId: queryId });
    open.set(hub, collector);
    return collector;
  };
  const complete = (hub: string, ending: MeshAnswer['ending']): void => {
    const collector = collectorOf(hub);
    const { reply } = collector;
    const isTruncated = collector.isTruncated || cut.has(hub);
    const told = tellingOfAnswer({ ending, isTruncated, reply });
    const answer = { hub: hub === '' ? undefined : hub, ending, reply, isTruncated, ...told };
    open.delete(hub);
    answers.set(hub, answer);
    asUncaught(() => onAnswer?.(answer));
    if (type === 'query') resolve([answer]);
  };
  /** Takes a part of the answer of a hub; of the one that has no name, if it does not say which. */
  const take = (hub: string, event: HubEvent): void => {
    if (answers.has(hub) || (!open.has(hub) && open.size + answers.size >= MOST_HUBS)) return;
    const collector = collectorOf(hub);
    const hasRoom = share.add(costOf(weightOf(event.payload)));
    if (!hasRoom && readSpeech(event) !== undefined) cut.add(hub);
    const kept = hasRoom ? event : { ...event, data: {}, payload: {} };
    collector.push({ ...kept, requestId: queryId }, true);
    if (event.type === 'hive.query.complete') complete(hub, 'handled');
    else if (collector.ending !== undefined) complete(hub, collector.ending);
  };
  /** Nothing more comes. */
  const close = (ending: 'timeout' | 'closed', error: Error): void => {
    const isEmpty = open.size === 0 && answers.size === 0;
    if (!isSent || (isEmpty && ending === 'closed')) return void reject(error);
    if (isEmpty && type === 'query') collectorOf('');
    for (const hub of open.keys()) complete(hub, ending);
    resolve([...answers.values()]);
  };
  const send = (): void => {
    try {
      isSent ||= client.send(envelope);
    } catch (error) {
      reject(error);
    }
  };
  const onEnd = (): void =>
    close('closed', new LocalError('session-over', 'the client has ended, because end() was called'));
  const listening: Listening = {
    connect: send,
    envelope({ envelope: { msg_type, metadata, payload } }) {
      const { query_id, is_response, responder_peer } = Object(metadata) as JsonObject;
      if (msg_type !== type || query_id !== queryId || is_response !== true) return;
      const event = readHubEvent(payload as JsonObject);
      if (event !== undefined) take(typeof responder_peer === 'string' ? responder_peer : '', event);
    },
    message({ message }) {
      const { denied_type } = message.data;
      const isOurs = denied_type === 'recognizer_loop:utterance' || denied_type === type;
      if (message.type !== 'hive.policy.denied' || !isOurs || !isAlone()) return;
      take('', message);
      close('closed', cause);
    },
    close({ error }) {
      cause = error;
      if (isSent) close('closed', error);
    },
    ask({ error }) {
      if (isLasting(error)) close('closed', error);
    },
    unsent({ message, error }) {
      if (message === envelope) reject(error);
    },
    end: onEnd,
  };

  const timer = setTimeout(() => close('timeout', cause), timeout);
  const abort = (): void => reject(reasonOf(signal!));
  signal?.addEventListener('abort', abort);
  const names = Object.keys(listening) as ClientEvent['type'][];
  for (const name of names) client.on(name, listening[name] as () => void);
  try {
    if (signal?.aborted) abort();
    else if (client.state === 'ended') onEnd();
    else if (client.state === 'ready') send();
    else if (asked !== undefined) close('closed', asked);
    return await ended;
  } finally {
    share.close();
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    for (const name of names) client.off(name, listening[name] as () => void);
  }
}
