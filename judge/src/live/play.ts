/** Live mode: plays scenes with an implementation, one for each connection. */

import { CannotRun } from '../adapter.ts';
import { didYouMean } from '../closest.ts';
import type { Difference } from '../difference.ts';
import { Declined, Failure, runTest, type Verdict } from '../verdict.ts';
import type { Connection, Patience } from './connection.ts';
import { SENT_BACK } from './talk.ts';

export interface LiveOptions {
  /** The PSK of a hub, from its node id. */
  derivePsk: (nodeId: string) => Uint8Array;
  /** Only the scenes of these names. */
  only?: readonly string[] | undefined;
  /** Leaves out scenes whose outcome the protocol leaves open. */
  isSpecOnly?: boolean;
  patience: Patience;
  /** Called before and after each scene; `number` counts from 1. */
  onStart?: (name: string, number: number, total: number) => void;
  onVerdict?: (verdict: Verdict, number: number, total: number) => void;
}

/**
 * The play on one connection. `Player` is the judge's side, which remembers keys from one scene to the next; `Link` is the
 * connection, which over MQTT knows more about the other side.
 */
export interface Scene<Player, Link extends Connection = Connection> {
  readonly name: string;
  readonly comment: string;
  /** Whether the protocol leaves the outcome open, and hub-protocol has chosen one. */
  readonly isChoice?: true;
  /** The access key of this connection, in place of the client's. */
  readonly accessKey?: string;
  /** Whether the other side may have ended after an earlier scene of this kind: then it is not reached. */
  readonly mayEnd?: true;
  /**
   * @param next - closes this connection, and waits for the next one, for a scene of several
   * @throws Failure, Declined, SceneOver
   */
  play(player: Player, connection: Link, next: () => Promise<Link>): Promise<void>;
}

/** Thrown by a scene: the other side closed the connection as it should, so the scene passed. */
export class SceneOver extends Error {}

/** Marks a scene whose outcome the protocol leaves open. */
export function choice<Player, Link extends Connection>(scene: Scene<Player, Link>): Scene<Player, Link> {
  return { ...scene, isChoice: true };
}

/** @throws CannotRun if one of these scenes does not exist */
export function chooseScenes<Player, Link extends Connection>(
  scenes: readonly Scene<Player, Link>[],
  { only, isSpecOnly }: Pick<LiveOptions, 'only' | 'isSpecOnly'>,
): readonly Scene<Player, Link>[] {
  const names = scenes.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new CannotRun(`there is no scene ${unknown}${didYouMean(unknown, names)}`);
  return scenes.filter(
    ({ name, isChoice }) => (only === undefined || only.includes(name)) && !(isSpecOnly && isChoice),
  );
}

/** Names a scene in which the other side goes on, though it must end the connection. */
function explained(error: unknown, comment: string): unknown {
  if (!(error instanceof Failure) || error.causes.length > 0 || !error.isGoingOn) return error;
  return new Failure(error.difference, [`the connection goes on where it must end: ${comment}`], true);
}

/** Whether no connection came. */
function isMissing(failure: { difference?: Difference } | undefined): boolean {
  return failure?.difference?.where === 'connection';
}

const NOT_REACHED =
  'not reached: the client did not come back after the scene before; start it again, and play this scene with --only';

export async function playScenes<Player, Link extends Connection>(
  scenes: readonly Scene<Player, Link>[],
  player: Player,
  connect: (accessKey?: string, mayBeGone?: boolean) => Promise<Link>,
  { onStart, onVerdict }: LiveOptions,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let hasEchoed = false;
  for (const [index, { name, comment, isChoice, accessKey, mayEnd, play }] of scenes.entries()) {
    onStart?.(name, index + 1, scenes.length);
    let connection: Link | undefined;
    const verdict = await runTest(
      { operation: 'live', name, comment, ...(isChoice && { isChoice }) },
      async () => {
        const mayBeGone = mayEnd && scenes[index - 1]?.mayEnd && !isMissing(verdicts.at(-1)!.failure);
        connection = await connect(accessKey, mayBeGone).catch((error) => {
          throw mayBeGone && isMissing(error) ? new Declined(NOT_REACHED) : error;
        });
        const next = async (): Promise<Link> => {
          connection?.close(1000);
          hasEchoed ||= connection?.hasEchoed === true;
          connection = await connect(accessKey);
          return connection;
        };
        await play(player, connection, next).catch((error) => {
          if (!(error instanceof SceneOver)) throw explained(error, comment);
        });
      },
    );
    connection?.close(1000);
    hasEchoed ||= connection?.hasEchoed === true;
    verdicts.push(verdict);
    onVerdict?.(verdict, index + 1, scenes.length);
  }
  return hasEchoed ? verdicts : verdicts.map(withoutEcho);
}

const NO_ECHO =
  'echo: nothing is ever sent back; for live mode the other side sends back each message that it receives, JSON as JSON and binary as binary';

/** Names the cause of a failure that all have in common if nothing ever comes back. */
function withoutEcho(verdict: Verdict): Verdict {
  const { failure } = verdict;
  const isSilent = failure?.difference.where.endsWith(SENT_BACK) && /^nothing /.test(failure.difference.got);
  if (failure === undefined || failure.causes.length > 0 || !isSilent) return verdict;
  return { ...verdict, failure: { ...failure, causes: [NO_ECHO] } };
}
