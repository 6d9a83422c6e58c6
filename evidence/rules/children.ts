/** Spreads the tasks of a script over child processes, which run the same script: a fault may leave its process in any state. */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Whether this process is such a child. */
export const isChild: boolean = process.send !== undefined;

/** In a child: runs the task of each index that it is sent. */
export function serveTasks(run: (index: number) => Promise<unknown>): void {
  process.on('message', async (index: number) => {
    process.send!(await run(index).catch((error) => String(error?.stack)));
  });
}

/**
 * Runs tasks in children.
 * @param script - the path of the script, which calls `serveTasks` if it is a child
 * @param onOutcome - takes what the task returned; or a string, if it threw or its process exited
 */
export async function runInChildren<Outcome>(
  script: string,
  count: number,
  onOutcome: (index: number, outcome: Outcome | string) => void,
): Promise<void> {
  const left = Array.from({ length: count }, (_, index) => index);
  const lane = async (): Promise<void> => {
    const child = fork(script, process.argv.slice(2));
    for (let index = left.shift(); index !== undefined; index = left.shift()) {
      const outcome = await new Promise<Outcome | string>((resolve) => {
        const gone = (): void => resolve('the process exited');
        child.once('exit', gone);
        child.once('message', (message: Outcome | string) => {
          child.off('exit', gone);
          resolve(message);
        });
        child.send(index!);
      });
      onOutcome(index, outcome);
    }
    child.disconnect();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), count) }, lane));
}
