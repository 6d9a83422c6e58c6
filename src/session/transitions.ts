/**
 * The state tables of both sessions: for each state, the inputs and steps that it knows and the state that follows. An
 * input or a step without an entry has no place in that state. The state diagrams in docs/reference/sessions.md are drawn from
 * these tables.
 *
 * What the tables leave out:
 *
 * - Two transitions are the same in every state: any failure leads to `failed`, and `closed()` leads to `closed`. Both are final.
 * - The input alone decides the state, never its content. A handler that refuses the content throws, which is a failure.
 * - A state may name several steps. The handlers decide which one they reach: after message 2, `read` under XXpsk2 and `done`
 *   under KKpsk0; at the hub, `written` under KKpsk0 alone.
 * - Once the session is encrypted, cleartext is no input of the tables: channel.ts ignores repeats of the handshake, and fails for
 *   everything else. Over MQTT a HELLO as bytes is not a repeat (inputs.ts).
 * - Methods that come too early throw `wrong-state` or do nothing, and the state stays: client-session.ts and hub-session.ts.
 * - What the end of a connection means depends on the state in which it ended: endings.ts.
 */
import type { JsonObject } from '../wire/json.ts';

/**
 * The value that each input carries. The first five are cleartext envelopes, which differ by type and by their `noise`
 * object.
 */
export interface Inputs {
  /** A HELLO. */
  hello: JsonObject;
  /** A HANDSHAKE without a Noise message. */
  offer: JsonObject;
  /** A HANDSHAKE with a Noise message and a pattern or a suite. */
  'noise-with-choice': JsonObject;
  /** A HANDSHAKE with a Noise message alone. */
  noise: JsonObject;
  /** An envelope of any other type. */
  other: JsonObject;
  /** `start()`. */
  start: undefined;
  /** `providePsk()`, or a stored PSK. */
  psk: Uint8Array;
  /** `resume()`, with the shared secret if one was requested. */
  resume: Uint8Array | undefined;
  /** A transport message. */
  frame: Uint8Array;
}

/** The name of an input. */
export type Input = keyof Inputs;

/** A step that a session reaches by itself: a Noise message is written or read, or the handshake is done. */
export type Step = 'written' | 'read' | 'done';

/** For each state, the state that follows each input and each step. */
export type TransitionTable<State extends string> = {
  readonly [state in State]: {
    readonly [name in Input | Step]?: State | 'failed';
  } & {
    /** A handshake envelope without its own entry, repeated by the peer or by MQTT: it is ignored. */
    readonly repeat?: State;
  };
};

/** The state of a client, until it fails or is closed. */
export type ClientState =
  | 'awaiting-hello'
  | 'awaiting-offer'
  | 'awaiting-psk'
  | 'sealing-message-1'
  | 'awaiting-message-2'
  | 'opening-message-2'
  | 'sealing-message-3'
  | 'ready';

/**
 * The states of a client. It stays in `sealing-message-1`, `opening-message-2` and `sealing-message-3` only after the event
 * `waiting`: if the private key is kept elsewhere, and if the session is paced.
 */
export const CLIENT_TRANSITIONS: TransitionTable<ClientState> = {
  'awaiting-hello': { start: 'awaiting-hello', hello: 'awaiting-offer' },
  'awaiting-offer': { hello: 'awaiting-offer', offer: 'awaiting-psk' }, // the latest HELLO counts
  'awaiting-psk': { psk: 'sealing-message-1', repeat: 'awaiting-psk' },
  'sealing-message-1': {
    resume: 'sealing-message-1',
    written: 'awaiting-message-2',
    repeat: 'sealing-message-1',
  },
  'awaiting-message-2': {
    'noise-with-choice': 'opening-message-2', // some hubs repeat the pattern in message 2
    noise: 'opening-message-2',
    repeat: 'awaiting-message-2',
  },
  'opening-message-2': {
    resume: 'opening-message-2',
    read: 'sealing-message-3',
    done: 'ready',
    repeat: 'opening-message-2',
  },
  'sealing-message-3': { resume: 'sealing-message-3', done: 'ready', repeat: 'sealing-message-3' },
  ready: { frame: 'ready', repeat: 'ready' },
};

/** The state of a hub, until it fails or is closed. */
export type HubState =
  | 'new'
  | 'awaiting-message-1'
  | 'awaiting-message-3'
  | 'awaiting-first-message'
  | 'ready';

/** The states of a hub. Over MQTT a client sends a HELLO before the hub starts, which changes nothing here. */
export const HUB_TRANSITIONS: TransitionTable<HubState> = {
  new: { start: 'awaiting-message-1' },
  'awaiting-message-1': {
    'noise-with-choice': 'awaiting-message-3',
    noise: 'failed', // message 1 without a pattern and a suite: the error names this
    repeat: 'awaiting-message-1',
  },
  'awaiting-message-3': {
    noise: 'ready',
    written: 'awaiting-first-message', // message 2 of KKpsk0, which has no message 3
    repeat: 'awaiting-message-3',
  },
  'awaiting-first-message': { frame: 'ready', repeat: 'awaiting-first-message' },
  ready: { frame: 'ready', repeat: 'ready' },
};
