/** OVOS with the skill `ovos_skill.py`: its message bus and its core, as processes on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../world/free-port.ts';
import { HivemindHub, homeIn } from './hivemind.ts';
import { HIVEMIND } from './python-peer.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What one says to the skill, by its intent. */
export const SAID = {
  story: 'tell me a story',
  aloud: 'tell it aloud',
  think: 'think it over',
  muse: 'think aloud',
  meet: 'ask for my name',
  invite: 'invite me',
  greet: 'greet me',
  nod: 'just nod',
  stumble: 'stumble now',
  count: 'count to thirty',
};

const DIALOGS = { question: 'What is your name?', greeting: 'Hello, {name}.' };

/** What OVOS asks in turn for the meaning of what was said: all that needs no model. */
const PIPELINE = ['stop', 'converse', 'padacioso', 'fallback'].map(
  (name) =>
    `ovos-${name}-pipeline-plugin${name === 'converse' ? '' : name === 'fallback' ? '-medium' : '-high'}`,
);

/** Writes the skill as an installed package. */
function writeSkill(folder: string): void {
  const files: { [name: string]: string } = {
    'storyteller-1.dist-info/METADATA': 'Metadata-Version: 2.1\nName: storyteller\nVersion: 1\n',
    'storyteller-1.dist-info/entry_points.txt':
      '[opm.skill]\nstoryteller.hub-protocol = storyteller:Storyteller\n',
  };
  for (const [name, text] of Object.entries(SAID)) files[`storyteller/locale/en-us/${name}.intent`] = text;
  for (const [name, text] of Object.entries(DIALOGS)) files[`storyteller/locale/en-us/${name}.dialog`] = text;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  cpSync(fileOf('ovos_skill.py'), join(folder, 'storyteller/__init__.py'));
}

export class Ovos {
  /** The port of its message bus. */
  readonly port: number;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #children: ChildProcess[] = [];

  /**
   * Starts it, and waits until its skill is loaded.
   * @param older - the stable release
   */
  static async start(older?: 'ovos-2'): Promise<Ovos> {
    const port = await freePort();
    const home = homeIn(`ovos-${port}`);
    const skills = join(home.HOME!, 'skills');
    writeSkill(skills);
    const settings = {
      lang: 'en-us',
      websocket: { host: '127.0.0.1', port },
      intents: { pipeline: PIPELINE },
    };
    const directory = join(home.XDG_CONFIG_HOME!, 'mycroft');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'mycroft.conf'), JSON.stringify(settings));
    const ovos = new Ovos(port, { ...process.env, ...home, PYTHONPATH: skills, OLDER: older, WATCHED: '1' });
    await ovos.#run('service started', 'ovos_messagebus');
    await ovos.#run('loaded successfully', 'ovos_core', '--disable-installer', '--disable-file-watcher');
    return ovos;
  }

  private constructor(port: number, environment: NodeJS.ProcessEnv) {
    this.port = port;
    this.#environment = environment;
  }

  /** Runs a service, and waits until it logs that it is ready. */
  async #run(ready: string, ...words: string[]): Promise<void> {
    const [program, ...launcher] = HIVEMIND;
    const child = spawn(program!, [...launcher, 'python', '-m', ...words], {
      env: this.#environment,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#children.push(child);
    const lines = createInterface({ input: child.stdout! });
    let log = '';
    for await (const line of lines) {
      log += `${line}\n`;
      if (line.includes(ready)) break;
    }
    if (child.exitCode !== null || !log.includes(ready))
      throw new Error(`${words[0]} did not start:\n${log}`);
    child.stdout!.resume();
  }

  /** A hub whose agent is this OVOS. */
  hub(): Promise<HivemindHub> {
    const module = 'hivemind-ovos-agent-plugin';
    const agent = { module, [module]: { host: '127.0.0.1', port: this.port } };
    return HivemindHub.create(`"agent_protocol":${JSON.stringify(agent)}`);
  }

  async stop(): Promise<void> {
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
  }
}
