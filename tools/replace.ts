/** Replaces folders by a build, or leaves them as they were if it fails. */
import { existsSync, renameSync, rmSync } from 'node:fs';

/**
 * @param folders - what the build writes; each is moved aside while it runs
 * @param build - writes the folders
 */
export async function replaceFolders(folders: readonly string[], build: () => Promise<void>): Promise<void> {
  for (const folder of folders) {
    remove(asideOf(folder));
    if (existsSync(folder)) renameSync(folder, asideOf(folder));
  }
  try {
    await build();
  } catch (error) {
    for (const folder of folders) {
      remove(folder);
      if (existsSync(asideOf(folder))) renameSync(asideOf(folder), folder);
    }
    throw error;
  }
  for (const folder of folders) remove(asideOf(folder));
}

const asideOf = (folder: string): string => `${folder}.before`;

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
