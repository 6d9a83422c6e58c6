/** The inputs and the parts of an explanation. */
import {
  bytesToHex,
  type JsonObject,
  nodeCrypto,
  ownField,
  type Pattern,
  type Suite,
} from 'hub-protocol-judge/internals';
import type { Failure, Recording, Role } from './recording.ts';

/** The user's evidence. Only one recording is required. */
export interface Evidence {
  readonly client?: Recording | undefined;
  readonly hub?: Recording | undefined;
  /** The payloads as seen by the side that made no recording. */
  readonly hello?: JsonObject | undefined;
  readonly offer?: JsonObject | undefined;
  /** The password that both sides should have. */
  readonly password?: string | undefined;
  readonly clientPsk?: Uint8Array | undefined;
  readonly hubPsk?: Uint8Array | undefined;
  /** The client's pin of this hub, in hex, if no recording of the client has it. */
  readonly clientPin?: string | undefined;
  /** Private static keys. */
  readonly clientStatic?: Uint8Array | undefined;
  readonly hubStatic?: Uint8Array | undefined;
  /** Derives a PSK of the password; slow. */
  readonly derive: (password: string, nodeId: string) => Uint8Array;
}

export type CauseName =
  // the hub's payloads and the client's view differ
  | 'hello-changed'
  | 'offer-changed'
  | 'wrong-value'
  | 'prologue' // message 1 does not open under the hub's
  // the sides hold different keys
  | 'psk-differs'
  | 'psk-stale'
  | 'hub-replaced'
  | 'client-key-lost'
  | 'unknown-hub'
  // messages on the way
  | 'message-order'
  | 'message-lost'
  | 'message-changed'
  | 'session-lost'
  // a message or an action of one side
  | 'bad-envelope'
  | 'bad-message'
  | 'offer'
  | 'access-refused'
  | 'unavailable'
  | 'refused'
  | 'own-fault';

export interface Cause {
  readonly name: CauseName;
  /** `certain` if no other cause is possible; `likely` if the text names the others. */
  readonly certainty: 'certain' | 'likely';
  readonly text: string;
  /** The difference of the prologues: the payload, the path in it, and the first byte of its canonical JSON. */
  readonly place?: { readonly payload: string; readonly path: string; readonly offset: number } | undefined;
}

/** One side's view of the hub's cleartext. */
export interface View {
  readonly hello: JsonObject;
  readonly offer: JsonObject;
}

/** The point at which the handshake failed: one side did not accept a message of the other. */
export interface Point {
  /** 0 to 2 are handshake messages, 3 is the first transport message. */
  readonly index: 0 | 1 | 2 | 3;
  readonly reader: Role;
  /** Whether the reader itself recorded it. Otherwise it is inferred from a connection that closed. */
  readonly isRecorded: boolean;
}

/** A fact that both sides may agree on. */
export type Fact = 'payloads' | 'messages' | 'hub-key' | 'client-key' | 'psks';

/** The evidence, and direct conclusions from it. */
export class Case {
  readonly evidence: Evidence;
  readonly recordings: readonly Recording[];
  /** The comparisons and computations that were made. */
  readonly checked: string[] = [];
  readonly #agreed: Set<Fact> = new Set();
  /** Evidence that the user could add. */
  readonly wouldHelp: Set<string> = new Set();
  readonly views: { readonly client: View | undefined; readonly hub: View | undefined };
  #derived: Uint8Array | undefined;

  constructor(evidence: Evidence) {
    this.evidence = evidence;
    this.recordings = [evidence.client, evidence.hub].filter((recording) => recording !== undefined);
    const { client, hub, hello, offer } = evidence;
    const given = (recording: Recording | undefined): View | undefined => {
      const [seen, offered] =
        recording === undefined ? [hello, offer] : [recording.hello?.payload, recording.offer?.payload];
      return seen && offered && { hello: seen, offer: offered };
    };
    this.views = { client: given(client), hub: given(hub) };
  }

  /** Notes that both sides agree on something. */
  agree(fact: Fact, text: string): void {
    this.#agreed.add(fact);
    this.checked.push(text);
  }

  agrees(...facts: readonly Fact[]): boolean {
    return facts.every((fact) => this.#agreed.has(fact));
  }

  /** The failures, the most informative first: a session's own failure before an ending. */
  get failures(): { readonly recording: Recording; readonly failure: Failure }[] {
    const all = this.recordings.flatMap((recording) =>
      recording.failure === undefined ? [] : [{ recording, failure: recording.failure }],
    );
    return all.sort((a, b) => Number(b.failure.isOwn) - Number(a.failure.isOwn));
  }

  get pattern(): Pattern | undefined {
    return this.recordings.map(({ pattern }) => pattern).find((pattern) => pattern !== undefined);
  }

  get suite(): Suite | undefined {
    return this.recordings.map(({ suite }) => suite).find((suite) => suite !== undefined);
  }

  get nodeId(): string | undefined {
    const view = this.views.client ?? this.views.hub;
    const nodeId = view && ownField(view.hello, 'node_id');
    return typeof nodeId === 'string' && nodeId !== '' ? nodeId : undefined;
  }

  /** The PSK of the password, if password and node id are known. */
  get derivedPsk(): Uint8Array | undefined {
    const { password, derive } = this.evidence;
    if (password === undefined || this.nodeId === undefined) return undefined;
    this.#derived ??= derive(password, this.nodeId);
    return this.#derived;
  }

  /** A handshake message. If both recordings have it, they have the same: others are compared before. */
  message(index: number): Uint8Array | undefined {
    const { client, hub } = this.evidence;
    return client?.messages[index] ?? hub?.messages[index];
  }

  /** A side's static public key, in hex, as that side has it. */
  publicKey(role: Role): string | undefined {
    const { [role]: recording, [`${role}Static` as const]: key } = this.evidence;
    return recording?.publicKey ?? (key && bytesToHex(nodeCrypto.x25519.publicKey(key)));
  }

  /** The static key of a side, in hex, that the other side has pinned. */
  pinnedKey(role: Role): string | undefined {
    const { client, hub, clientPin } = this.evidence;
    const keys: { readonly [role in Role]: unknown } = {
      hub: client === undefined ? clientPin : client.pin,
      client: hub && ownField(hub.header, 'clientKey'),
    };
    const pinned = String(keys[role]);
    return /^[0-9a-f]{64}$/.test(pinned) ? pinned : undefined;
  }

  get point(): Point | undefined {
    for (const { recording, failure } of this.failures) {
      const point = pointOf(recording, failure);
      if (point !== undefined) return point;
    }
    return undefined;
  }
}

function pointOf({ role, pattern, opened }: Recording, { code, isOwn, state }: Failure): Point | undefined {
  const at = (index: Point['index'], reader: Role): Point => ({ index, reader, isRecorded: isOwn });
  if (code === 'not-authentic') return opened === 0 ? at(3, role) : undefined;
  if (isOwn) {
    if (state === 'awaiting-message-1')
      return code === 'prologue-differs' || code === 'kk-failed' ? at(0, role) : undefined;
    const isUnreadable = /^(?:psk-differs|kk-failed|static-key-not-authentic|payload-not-authentic)$/.test(
      code,
    );
    if (!isUnreadable) return undefined;
    return role === 'client' ? at(1, role) : at(2, role);
  }
  if (code === 'negotiation-refused' || code === 'kk-refused') return at(0, 'hub');
  if (code === 'client-key-refused' || code === 'refused') return at(pattern === 'KKpsk0' ? 3 : 2, 'hub');
  if (role === 'hub' && (state === 'awaiting-message-3' || state === 'awaiting-first-message'))
    return at(1, 'client');
  return undefined;
}
