/**
 * The state tables of both sessions: what each state does with each input, and which states may follow. The state
 * diagrams in docs/sessions.md are drawn from these tables, and the compiler checks that each action returns one of
 * its next states.
 *
 * Two transitions are the same in every state and are not repeated here: any failure leads to `failed`, and `closed()`
 * leads to `closed`. Neither leads back.
 */

/**
 * The inputs of a session. The first five are cleartext envelopes, told apart by their type and their `noise` object.
 * An input that a state neither handles nor ignores is an error of the peer.
 */
export type Input =
  | 'hello' // a HELLO
  | 'offer' // a HANDSHAKE without a Noise message
  | 'message-1' // a HANDSHAKE with a Noise message and a pattern or a suite
  | 'later-message' // a HANDSHAKE with a Noise message alone
  | 'other' // an envelope of any other type
  | 'start' // start(), at a hub
  | 'psk' // providePsk()
  | 'shared-secret' // provideSharedSecret()
  | 'resume' // resume()
  | 'frame'; // a transport message

/** What a state does with an input. */
export interface Transition {
  /** The name of the method that handles it. */
  readonly action: string;
  /** The states that may follow. */
  readonly next: readonly string[];
}

/** What a state does with its inputs. */
export interface StateRow {
  /** The inputs that the state handles. */
  readonly on: { readonly [input in Input]?: Transition };
  /**
   * Whether handshake envelopes that `on` does not list are ignored. Repeated envelopes are ignored in every state from
   * the offer on.
   */
  readonly ignoresRepeats: boolean;
}

/** The states of a session, by their names. */
export interface TransitionTable {
  readonly [state: string]: StateRow;
}

/** The states that may follow an action. */
export type After<Table extends TransitionTable, Action extends string> = {
  [State in keyof Table]: {
    [Name in keyof Table[State]['on']]: Table[State]['on'][Name] extends {
      readonly action: Action;
      readonly next: readonly (infer Next)[];
    }
      ? Next
      : never;
  }[keyof Table[State]['on']];
}[keyof Table];

/**
 * The states of a client. `sealing-message-1`, `opening-message-2` and `sealing-message-3` occur only if the private
 * key is kept elsewhere, when the session waits for a shared secret, and if the session is paced, when it waits for
 * `resume()`.
 */
export const CLIENT_TRANSITIONS = {
  'awaiting-hello': {
    on: { hello: { action: 'takeHello', next: ['awaiting-offer'] } },
    ignoresRepeats: false,
  },
  'awaiting-offer': {
    on: {
      hello: { action: 'takeHello', next: ['awaiting-offer'] }, // the latest HELLO counts
      offer: { action: 'takeOffer', next: ['awaiting-psk', 'sealing-message-1', 'awaiting-message-2'] },
    },
    ignoresRepeats: false,
  },
  'awaiting-psk': {
    on: { psk: { action: 'takePsk', next: ['sealing-message-1', 'awaiting-message-2'] } },
    ignoresRepeats: true,
  },
  'sealing-message-1': {
    on: {
      'shared-secret': { action: 'sealMessage1', next: ['sealing-message-1', 'awaiting-message-2'] },
      resume: { action: 'sealMessage1', next: ['sealing-message-1', 'awaiting-message-2'] },
    },
    ignoresRepeats: true,
  },
  'awaiting-message-2': {
    on: {
      // Some hubs repeat the pattern in message 2.
      'message-1': { action: 'takeMessage2', next: ['opening-message-2', 'sealing-message-3', 'ready'] },
      'later-message': { action: 'takeMessage2', next: ['opening-message-2', 'sealing-message-3', 'ready'] },
    },
    ignoresRepeats: true,
  },
  'opening-message-2': {
    on: {
      'shared-secret': { action: 'openMessage2', next: ['opening-message-2', 'ready'] },
      resume: { action: 'openMessage2', next: ['opening-message-2', 'sealing-message-3', 'ready'] },
    },
    ignoresRepeats: true,
  },
  'sealing-message-3': {
    on: {
      'shared-secret': { action: 'sealMessage3', next: ['sealing-message-3', 'ready'] },
      resume: { action: 'sealMessage3', next: ['sealing-message-3', 'ready'] },
    },
    ignoresRepeats: true,
  },
  ready: {
    on: { frame: { action: 'takeFrame', next: ['ready'] } },
    ignoresRepeats: true,
  },
} as const;

/** The states of a hub. Over MQTT a client sends a HELLO before the hub starts, which changes nothing here. */
export const HUB_TRANSITIONS = {
  new: {
    on: { start: { action: 'greet', next: ['awaiting-message-1'] } },
    ignoresRepeats: false,
  },
  'awaiting-message-1': {
    on: {
      'message-1': { action: 'takeMessage1', next: ['awaiting-message-3', 'awaiting-first-message'] },
      // Message 1 without a pattern and a suite: the action throws the error that names this.
      'later-message': { action: 'takeMessage1', next: [] },
    },
    ignoresRepeats: true,
  },
  'awaiting-message-3': {
    on: { 'later-message': { action: 'takeMessage3', next: ['ready'] } },
    ignoresRepeats: true,
  },
  'awaiting-first-message': {
    on: { frame: { action: 'takeFirstFrame', next: ['ready'] } },
    ignoresRepeats: true,
  },
  ready: {
    on: { frame: { action: 'takeFrame', next: ['ready'] } },
    ignoresRepeats: true,
  },
} as const;
