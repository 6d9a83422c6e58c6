/**
 * The tables of ConnectionPolicy: its states, and what it decides when a connection has ended. The diagram and the tables
 * in docs/reference/policy.md are drawn from them, and `vectors/tables.json` has the same rows for ports.
 *
 * What the tables leave out, and connection-policy.ts decides: how long a pause is, and when a deadline is due; which patterns
 * and PSK the next connection uses; and what the events of a session mean for the facts of a row. Any end of a connection leads
 * to the state of its verdict, from whatever state.
 */
import type { ErrorCode } from '../errors.ts';
import type { EndedEvent } from '../session/events.ts';

/** The state of a ConnectionPolicy. */
export type PolicyState =
  | 'idle' // no connection, and none is due: begin() may be called at any time
  | 'connecting' // begin() announced a connection, which is not ready
  | 'ready' // the connection is ready
  | 'waiting' // begin() is due after a pause
  | 'leaving' // goodbye() was called, and the connection has not ended yet
  | 'returning' // resume() was called after that, and the connection still has not ended
  | 'resting'; // goodbye() was called, and there is no connection

/** The action after a connection has ended. */
export type Verdict =
  | 'ask' // ask a person, and dial after a long pause
  | 'redial' // dial immediately
  | 'pause' // dial after a pause
  | 'rest'; // do nothing

/** The states after a call or a `ready` event. An input that is not listed changes nothing. */
export interface PolicyRow {
  readonly begin?: PolicyState;
  readonly ready?: PolicyState;
  readonly goodbye?: PolicyState;
  readonly resume?: PolicyState;
}

/** The states. There is one connection at a time: while there is one, begin() does nothing. */
export const POLICY_STATES: { readonly [state in PolicyState]: PolicyRow } = {
  idle: { begin: 'connecting', goodbye: 'resting' },
  connecting: { ready: 'ready', goodbye: 'leaving' },
  ready: { goodbye: 'leaving' },
  waiting: { begin: 'connecting', goodbye: 'resting', resume: 'idle' },
  leaving: { resume: 'returning' },
  returning: { goodbye: 'leaving' },
  resting: { resume: 'idle' },
};

/** The facts that decide the action after a connection has ended. */
export interface PolicyFacts extends Partial<Pick<EndedEvent, 'retry' | 'reason' | 'pattern'>> {
  readonly state?: PolicyState;
  /** The code of the error. */
  readonly error?: ErrorCode;
  /** Whether the connection had been ready. */
  readonly wasReady?: boolean;
  /**
   * Whether an earlier connection ended with the same error: the latest one that was ready, and the hub was heard on neither
   * and neither was steady; for `psk-differs`, any in the last hour.
   */
  readonly isRepeated?: boolean;
}

/** The action after a connection has ended, if all these facts hold. */
export interface PolicyEnding extends PolicyFacts {
  readonly verdict: Verdict;
  /** Whether the longest pause is ten times as long: the hub has refused the client, or a password may have been tested. */
  readonly isRefusal?: true;
  /** Whether only XXpsk2 is used from now on, until a connection is ready. */
  readonly usesXxAlone?: true;
}

/** The actions after a connection has ended. The first row that matches counts. */
export const POLICY_ENDINGS: readonly PolicyEnding[] = [
  { state: 'leaving', verdict: 'rest' },
  { state: 'resting', verdict: 'rest' },
  { state: 'returning', verdict: 'redial' },
  { retry: 'never', verdict: 'ask' },
  { error: 'psk-differs', isRepeated: true, verdict: 'ask', isRefusal: true },
  { error: 'client-key-refused', isRepeated: true, verdict: 'ask', isRefusal: true },
  { error: 'certificate-refused', verdict: 'ask' },
  { error: 'protocol-version', verdict: 'ask' },
  { error: 'access-refused', verdict: 'pause', isRefusal: true }, // before message 1, so the pattern does not matter
  { reason: 'refused', pattern: 'KKpsk0', wasReady: false, verdict: 'redial', usesXxAlone: true },
  { reason: 'timeout', pattern: 'KKpsk0', wasReady: false, verdict: 'redial', usesXxAlone: true },
  // Older hubs refuse like this, and so does a hub over HTTPS. The pin is not suspect: anybody can bring it about.
  { error: 'dropped', pattern: 'KKpsk0', wasReady: false, verdict: 'pause', usesXxAlone: true },
  { error: 'negotiation-refused', verdict: 'pause', isRefusal: true },
  { error: 'refused', verdict: 'pause', isRefusal: true },
  { verdict: 'pause' },
];
