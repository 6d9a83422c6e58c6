/**
 * Works out how a connection ended, from its history and from how its transport closed. The tables are data; the first
 * row that matches counts. `vectors/tables.json` has the same rows for ports.
 */
import { membersOf, readArgument } from '../arguments.ts';
import { type EndingCode, type ErrorCode, LocalError, type RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import type { Pattern } from '../noise/patterns.ts';
import { type JsonObject, ownField } from '../wire/json.ts';
import type { EndedEvent } from './events.ts';
import type { ClientState, HubState } from './transitions.ts';

/**
 * The end of the transport, as far as the integrator knows: a WebSocket close code, `timeout` if it gave up waiting, or
 * an object with any of these fields. A `CloseEvent` of a WebSocket is such an object.
 */
export type Closing =
  | number
  | 'timeout'
  | {
      /** The WebSocket close code. */
      readonly code?: number | undefined;
      /** The HTTP status of a WebSocket upgrade that was refused. */
      readonly status?: number | undefined;
      /** The reason in the close frame. */
      readonly reason?: string | undefined;
      /**
       * Why there was no connection, if the transport knows. It counts before the other fields. `not-reachable`: no host, no route,
       * nothing that listens, no answer. `certificate-refused`: the certificate of the server cannot be verified. `not-a-hub`: the
       * server speaks something else. `broker-refused`: the MQTT broker refuses the account.
       */
      readonly cause?: 'not-reachable' | 'certificate-refused' | 'not-a-hub' | 'broker-refused' | undefined;
      /** The platform's code for the cause, such as `ECONNREFUSED`, for the error. Never its message, which may contain the URL. */
      readonly platformCode?: string | undefined;
    };

/** The ways in which a connection can close, as the tables distinguish them. */
export type CloseKind =
  | 'not-reachable' // this and the next three: as the transport says
  | 'certificate-refused'
  | 'not-a-hub' // also any other HTTP status
  | 'broker-refused'
  | 'refusal' // WebSocket code 1008
  | 'unauthorized' // HTTP status 401 or 403
  | 'unavailable' // HTTP status 408, 429 or from 500 on, or the close reason `connection_limit`
  | 'timeout'
  | 'loss'; // any other code, such as 1000, or none

/** A row for a session that had not failed. A field that is absent matches anything. */
export interface EndingRow<State extends string> {
  /** How the transport closed. */
  readonly close?: CloseKind;
  /** The states in which the session was. */
  readonly state?: readonly State[];
  /** The handshake pattern that had been chosen. */
  readonly pattern?: Pattern;
  /** Whether a transport message of the peer has opened. */
  readonly heard?: boolean;
  /** Whether no hub has accepted the client's static key yet. */
  readonly isFresh?: boolean;
  readonly reason: EndedEvent['reason'];
  readonly retry: EndedEvent['retry'];
  readonly error: EndingCode;
  /** Whether the pin becomes suspect: the event `pin-suspect`. */
  readonly doubtsPin?: true;
}

const CAUSES = ['not-reachable', 'certificate-refused', 'not-a-hub', 'broker-refused'] as const;
const BEFORE_MESSAGE_1: readonly ClientState[] = [
  'awaiting-hello',
  'awaiting-offer',
  'awaiting-psk',
  'sealing-message-1',
];
const AWAITING_MESSAGE_2: readonly ClientState[] = ['awaiting-message-2'];

/** The endings of a client that had not failed. */
export const CLIENT_ENDINGS: readonly EndingRow<ClientState>[] = /* @__PURE__ */ CAUSES.map(
  (cause): EndingRow<ClientState> => ({ close: cause, reason: 'dropped', retry: 'later', error: cause }),
).concat([
  { close: 'timeout', reason: 'timeout', retry: 'later', error: 'timeout' },
  { close: 'unavailable', reason: 'dropped', retry: 'later', error: 'unavailable' },
  { close: 'loss', reason: 'dropped', retry: 'now', error: 'dropped' },
  { heard: true, reason: 'dropped', retry: 'now', error: 'dropped' },
  { close: 'unauthorized', reason: 'refused', retry: 'later', error: 'access-refused' },
  { state: BEFORE_MESSAGE_1, reason: 'refused', retry: 'later', error: 'access-refused' },
  {
    state: AWAITING_MESSAGE_2,
    pattern: 'XXpsk2',
    reason: 'refused',
    retry: 'later',
    error: 'negotiation-refused',
  },
  { state: AWAITING_MESSAGE_2, reason: 'refused', retry: 'now', error: 'kk-refused', doubtsPin: true },
  {
    state: ['ready'],
    pattern: 'XXpsk2',
    isFresh: true,
    reason: 'client-key-refused',
    retry: 'later',
    error: 'client-key-refused',
  },
  { reason: 'refused', retry: 'later', error: 'refused' },
]);

/**
 * The endings of a hub that had not failed. A hub never dials, so it never retries. It ignores close codes, since many
 * clients cannot choose one.
 */
export const HUB_ENDINGS: readonly EndingRow<HubState>[] = [
  { close: 'timeout', reason: 'timeout', retry: 'never', error: 'timeout' },
  { reason: 'dropped', retry: 'never', error: 'dropped' },
];

/** A row for a session that had failed: the meaning of its error for the next attempt. An absent field matches anything. */
export interface FailureRow {
  /** The code of the error. */
  readonly error?: ErrorCode;
  /** Whether the fault was on this side. */
  readonly isLocal?: boolean;
  /** Whether the handshake had been completed. */
  readonly isEstablished?: boolean;
  readonly reason: EndedEvent['reason'];
  readonly retry: EndedEvent['retry'];
}

/** The endings of a client that had failed. */
export const CLIENT_FAILURES: readonly FailureRow[] = [
  { error: 'hub-key-changed', reason: 'refused', retry: 'never' },
  { error: 'unknown-hub', reason: 'refused', retry: 'never' },
  { isLocal: true, reason: 'dropped', retry: 'later' },
  { isEstablished: true, reason: 'dropped', retry: 'now' },
  { reason: 'refused', retry: 'later' },
];

/** The endings of a hub that had failed. */
export const HUB_FAILURES: readonly FailureRow[] = [
  { isEstablished: true, reason: 'dropped', retry: 'never' },
  { reason: 'refused', retry: 'never' },
];

/** A `Closing` in the form that the tables and the `ended` event use. */
export interface ReadClosing {
  readonly kind: CloseKind;
  readonly code: number | undefined;
  readonly status: number | undefined;
  readonly closeReason: string | undefined;
  readonly platformCode: string | undefined;
}

/**
 * Reads the argument of `closed`. `undefined` means that the connection was lost.
 * @throws LocalError `bad-argument`
 */
export function readClosing(closing: Closing | undefined): ReadClosing {
  const isObject = typeof closing === 'object' && closing !== null;
  const isTimeout = closing === 'timeout';
  const fields: Exclude<Closing, number | 'timeout'> = isObject
    ? readArgument('closing', () => membersOf(closing, ['code', 'status', 'reason', 'cause', 'platformCode']))
    : { code: isTimeout ? undefined : closing };
  const { code, status, reason, cause, platformCode } = fields;
  if (
    !isOptional(code, 'number') ||
    !isOptional(status, 'number') ||
    !isOptional(reason, 'string') ||
    !isOptional(platformCode, 'string') ||
    (cause !== undefined && CAUSES.indexOf(cause) < 0)
  ) {
    throw errors.expectedType(
      'closing',
      'a close code, "timeout", or { code, status, reason, cause, platformCode }',
      closing,
    );
  }
  return {
    kind: isTimeout ? 'timeout' : (cause ?? kindOfClosing(code, status, reason)),
    code,
    status,
    closeReason: reason,
    platformCode,
  };
}

function kindOfClosing(
  code: number | undefined,
  status: number | undefined,
  reason: string | undefined,
): CloseKind {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status !== undefined && status < 500 && status !== 408 && status !== 429) return 'not-a-hub';
  if (status !== undefined || reason === 'connection_limit') return 'unavailable';
  return code === 1008 ? 'refusal' : 'loss';
}

function isOptional(value: unknown, type: string): boolean {
  return value === undefined || typeof value === type;
}

/** How a connection ended. */
export type Ending = Pick<EndedEvent, 'reason' | 'retry' | 'error'>;

/** The facts that decide the ending of a connection. */
export interface EndingFacts<State extends string> {
  readonly close: CloseKind;
  readonly state: State;
  readonly pattern: Pattern | undefined;
  readonly heard: boolean;
  readonly isFresh?: boolean | undefined;
  /** The HTTP status of a refused upgrade, for the error. */
  readonly status?: number | undefined;
  /** The platform's code, for the error. */
  readonly platformCode?: string | undefined;
}

/** The ending of a connection that had not failed. */
export function findEnding<State extends string>(
  table: readonly EndingRow<State>[],
  facts: EndingFacts<State>,
): EndingRow<State> {
  return findRow(table, facts);
}

/** The ending of a connection that had failed. */
export function findFailure(
  table: readonly FailureRow[],
  error: LocalError | RemoteError,
  isEstablished: boolean,
): FailureRow {
  return findRow(table, { error: error.code, isLocal: error instanceof LocalError, isEstablished });
}

/** The first row of a table that matches all facts. Each table ends with a row that matches everything. */
export function findRow<Row extends object>(table: readonly Row[], facts: object): Row {
  const names = Object.keys(facts);
  for (let i = 0; ; i++) {
    const row = table[i]!;
    const isExpected = (name: string): boolean =>
      matches(ownField(row as JsonObject, name), ownField(facts as JsonObject, name));
    if (names.every(isExpected)) return row;
  }
}

/** Whether a fact is as a row expects: anything, a value, or one of several. */
function matches(expected: unknown, actual: unknown): boolean {
  if (Array.isArray(expected)) return expected.indexOf(actual) >= 0;
  return expected === undefined || expected === actual;
}
