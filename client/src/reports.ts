/** What the operator of a hub is told: its functions at a rate that a log can take, and a channel everything. */
import type { HubSession, LocalError, RemoteError } from 'hub-protocol';
import type { Account } from './account.ts';
import type { Admission } from './admission.ts';

const { channel } = process.getBuiltinModule('node:diagnostics_channel');

/**
 * What a hub publishes at the `node:diagnostics_channel` of the name `hub-protocol-client/hub`: that a connection of a client is `ready`, has
 * `ended`, or was `refused`, or that there was a `fault`, each time, however often.
 */
export interface HubReport {
  /** What has happened. */
  readonly type: 'ready' | 'ended' | 'refused' | 'fault';
  /** Of a client that the hub knows. */
  readonly accessKey?: string | undefined;
  /** Why it was refused, or what the fault is. */
  readonly error?: unknown;
  /** How many connections are ready now. */
  readonly ready: number;
  /** How many are not ready yet. */
  readonly unready: number;
  /** What all hold that `maxMemory` limits, in bytes. */
  readonly held: number;
}

const reports = channel('hub-protocol-client/hub');

/** How often a function is called in a second. */
const RATE = 20;

/** Calls a function at most so often. What is too much is counted, and the latest is told at the end of the second. */
class Rated<Given extends readonly unknown[]> {
  readonly #call: (given: Given, untold: number) => void;
  #count = 0;
  #untold = 0;
  #latest: Given | undefined;

  constructor(call: (given: Given, untold: number) => void) {
    this.#call = call;
  }

  tell(given: Given): void {
    if (this.#count === 0) setTimeout(() => this.#renew(), 1000).unref();
    if (this.#count < RATE) {
      this.#count++;
      return void this.#call(given, 0);
    }
    if (this.#latest !== undefined) this.#untold++;
    this.#latest = given;
  }

  #renew(): void {
    const [latest, untold] = [this.#latest, this.#untold];
    this.#count = this.#untold = 0;
    this.#latest = undefined;
    if (latest === undefined) return;
    this.#count = 1;
    setTimeout(() => this.#renew(), 1000).unref();
    this.#call(latest, untold);
  }
}

type Refusal = readonly [
  error: LocalError | RemoteError,
  state: HubSession['state'],
  accessKey: string | undefined,
];

/** What a hub's program wants to be told. */
interface Functions {
  onRefused?: ((...given: [...Refusal, untold: number]) => void) | undefined;
  onFault?: ((error: unknown, untold: number) => void) | undefined;
}

export class Reports {
  readonly #account: Account;
  readonly #admission: Admission;
  readonly #refusals: Rated<Refusal>;
  readonly #faults: Rated<readonly [error: unknown]>;

  constructor({ onRefused, onFault }: Functions, account: Account, admission: Admission) {
    this.#account = account;
    this.#admission = admission;
    this.#refusals = new Rated((refusal, untold) => {
      try {
        onRefused?.(...refusal, untold);
      } catch (error) {
        this.fault(error);
      }
    });
    this.#faults = new Rated(([error], untold) => onFault?.(error, untold));
  }

  connection(type: 'ready' | 'ended', accessKey: string): void {
    this.#publish({ type, accessKey });
  }

  /** A connection has ended that was not ready. */
  refused(...refusal: Refusal): void {
    const [error, , accessKey] = refusal;
    this.#publish({ type: 'refused', accessKey, error });
    this.#refusals.tell(refusal);
  }

  fault(error: unknown): void {
    this.#publish({ type: 'fault', error });
    this.#faults.tell([error]);
  }

  #publish(report: Pick<HubReport, 'type' | 'accessKey' | 'error'>): void {
    if (!reports.hasSubscribers) return;
    const held = this.#account.total;
    reports.publish({ ...report, ...this.#admission.counts, held } satisfies HubReport);
  }
}
