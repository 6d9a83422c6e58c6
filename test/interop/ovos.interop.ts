/**
 * The client against OVOS with a real core and a skill, behind HiveMind's hub: whole answers, their parts, and how they end. With
 * MEASURE=1 it writes the times into docs/evidence/interop.md.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseIdentity } from 'hub-protocol';
import { type AskOptions, type Client, connect, type Part } from 'hub-protocol-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { authority, folder } from './certificate.ts';
import type { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { Ovos, SAID } from './ovos.ts';
import { versionOf } from './python-peer.ts';

const PASSWORD = 'correct horse battery staple';
const ALLOWED = ['recognizer_loop:utterance', 'recognizer_loop:audio_output_end'];
const WONDER = 'wonder why';
const FAILED = 'An error occurred while processing a request in Storyteller';
const STORY = ['Once upon a time.', 'There was a hub.', 'The end.'];

/** An answer: its parts, how it ended, and in seconds after the question when the first and the last part came, and the end. */
interface Heard {
  readonly ending: string;
  readonly parts: readonly string[];
  readonly times: readonly [first: number, last: number, end: number];
}

/** The rows of the measured table, by the skill: its answer, and what each OVOS did. */
const measured = new Map<string, string[]>();
const head = ['skill', 'answer'];

for (const older of [undefined, 'ovos-2'] as const) {
  const version = versionOf('ovos[-_]core', ...(older === undefined ? [] : [`requirements-${older}.txt`]));
  head.push(`OVOS ${version}`);
  const test = suite(`OVOS ${version} behind HiveMind’s hub`);
  const starting = Ovos.start(older); // the second one starts while the first one is tested
  starting.catch(() => {}); // `before` reports it
  let ovos: Ovos;
  let hub: HivemindHub;
  let client: Client;
  /** The answers that take fourteen seconds, which are asked for before the others, in sessions of their own. */
  const late: { [text: string]: Promise<Heard> } = {};

  async function ask(text: string, sessionId: string, options: AskOptions = {}): Promise<Heard> {
    const began = performance.now();
    const now = (): number => (performance.now() - began) / 1000;
    const parts: string[] = [];
    const times: number[] = [];
    const { ending } = await client.ask(
      { text, sessionId },
      {
        ...options,
        onPart(part) {
          parts.push(part.text);
          times.push(now());
          options.onPart?.(part);
        },
      },
    );
    return { ending, parts, times: [times[0] ?? NaN, times[times.length - 1] ?? NaN, now()] };
  }

  const tellSpoken = ({ message }: Part): unknown => client.spoken(message);

  test.before(async () => {
    ovos = await starting;
    hub = await ovos.hub();
    const allow = ALLOWED.flatMap((type) => ['--allow', type]);
    await hub.command(
      'add-client',
      '--name',
      'kiosk',
      '--access-key',
      'kiosk-7',
      '--password',
      PASSWORD,
      ...allow,
    );
    await hub.start('--agent');
    client = connect({
      identity: parseIdentity({
        access_key: 'kiosk-7',
        password: PASSWORD,
        site_id: 'lobby',
        data_plane_endpoints: { wss: `wss://localhost:${hub.port}` },
      }),
      keyring: join(folder, `${version}.keyring.json`),
      socket: { ca: authority },
    });
    // OVOS 2 has its intents a little later than its skill, and may miss some of several questions at once.
    for (let i = 0; i < 20 && (await ask(SAID.greet, 's-1')).ending !== 'handled'; i++) await sleep(500);
    for (const text of [SAID.think, SAID.muse, WONDER]) {
      const isFound = new Promise<void>((resolve) => {
        client.on('message', ({ message }) => message.type.endsWith('.activate') && resolve());
      });
      late[text] = ask(text, text);
      late[text].catch(() => {}); // the row of the answer reports it
      await Promise.race([isFound, late[text]]);
    }
  });
  test.after(async () => {
    client?.end();
    await hub?.stop();
    await ovos?.stop();
  });

  /**
   * A row of the matrix and of the measured table.
   * @param result - how OVOS differs from the spec, if it does
   */
  function check(
    what: string,
    expected: [ending: string, ...parts: string[]],
    run: () => Promise<Heard>,
    result?: string,
  ): void {
    const row = {
      peer: 'ovos-core',
      version,
      role: 'hub' as const,
      pattern: 'XXpsk2',
      suite: '25519_ChaChaPoly_SHA256',
      what,
    };
    compare(test, row, async () => {
      const { ending, parts, times } = await run();
      const [first, last, end] = times.map((time) => `${time.toFixed(1)} s`);
      const spoken = parts.length === 0 ? '' : `${first}, ${last}, `;
      const cells = measured.get(what) ?? [what, parts.join(' ')];
      measured.set(what, [...cells, `${spoken}\`${ending}\` at ${end}`]);
      assert.equal([ending, ...parts], expected);
      return result;
    });
  }

  check('a dialog', ['handled', 'Hello, world.'], () => ask(SAID.greet, 's-1'));
  check('three sentences, 0.6 s apart', ['handled', ...STORY], () => ask(SAID.story, 's-1'));
  check(
    'three sentences, each after the client says that it has spoken the last',
    ['handled', ...STORY],
    () => ask(SAID.aloud, 's-1', { onPart: tellSpoken }),
  );
  check('a handler without speech', ['handled'], () => ask(SAID.nod, 's-1'));
  check('a handler that fails', ['handled', FAILED], () => ask(SAID.stumble, 's-1'));
  check('an utterance that nothing matches', ['unanswered'], () => ask('purple bicycles', 's-1'));
  check('“stop”, when nothing runs', ['handled'], () => ask('stop', 's-2'));
  check('a question at the end of a handler', ['handled', 'Do you want to hear a story?'], () =>
    ask(SAID.invite, 's-1'),
  );
  check('a question in a handler, which waits for the answer', ['spoken', 'What is your name?'], () =>
    ask(SAID.meet, 's-3', { onPart: tellSpoken }),
  );
  check('the answer to that question', ['handled', 'Hello, Ada.'], () => ask('Ada', 's-3'));
  check(
    'an answer that is aborted, and “stop” for its skill',
    older === undefined ? ['handled'] : ['timeout'],
    async () => {
      const abort = new AbortController();
      const counted = ask(SAID.count, 's-4', {
        signal: abort.signal,
        onPart: ({ text }) => text === '3' && abort.abort(),
      });
      await counted.catch(() => {});
      assert.ok(abort.signal.aborted);
      const heard = await ask('stop', 's-4', { timeout: 3000 });
      return heard;
    },
    older === undefined ? undefined : 'says no `ovos.utterance.handled` for a “stop” that stops a skill',
  );
  check('a skill that thinks for 14 s', ['handled', 'Forty-two.'], () => late[SAID.think]!);
  check(
    'a sentence, 14 s of thought, another',
    ['handled', 'Let me think.', 'Forty-two.'],
    () => late[SAID.muse]!,
  );
  check('a fallback that thinks for 14 s', ['handled', 'Who knows?'], () => late[WONDER]!);

  test.run();
}

process.on('exit', () => {
  if (process.env.MEASURE === undefined) return;
  writeMeasured('docs/evidence/interop.md', { answers: table(head, [...measured.values()]) });
});
