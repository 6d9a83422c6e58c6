/** docs/guides/hivemind-hub.md, followed as it is written. The hub listens on a free port, and its agent is a stand-in. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HivemindHub } from './hivemind.ts';

const test = suite('the guide to HiveMind’s hub');
const GUIDE = readFileSync(new URL('../../docs/guides/hivemind-hub.md', import.meta.url), 'utf8');
const CLI = fileURLToPath(new URL('../../cli/dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-guide-'));
const hub = await HivemindHub.create('"binarize":false', false);
test.after(async () => {
  await hub.stop();
  rmSync(folder, { recursive: true });
});

/** The words of a command in the guide, as a shell splits them. */
function wordsOf(start: string): string[] {
  const line = GUIDE.split('\n').find((text) => text.startsWith(start))!;
  return [...line.slice(start.length).matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word!,
  );
}

test('leads from add-client to the first answer, and back with the pinned key', async () => {
  await hub.command(...wordsOf('hivemind-core '));
  await hub.start();
  const [, identity] = /```json\n([^`]+)```/.exec(GUIDE)!;
  writeFileSync(join(folder, 'identity.json'), identity!.replace('5678', String(hub.port)));
  const words = wordsOf('npx hub-protocol-cli ');
  for (let i = 0; i < 2; i++) {
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...words], { cwd: folder });
    assert.is(stdout, 'You said: What time is it?\n');
  }
});

test('names commands that the hub has', async () => {
  const help = await hub.command('--help');
  for (const [, command] of GUIDE.matchAll(/(?:^|`)hivemind-core ([a-z-]+)/gm))
    assert.match(help, ` ${command} `);
});

test.run();
