/** HiveMind's hub, from PyPI, as a process on loopback with its own configuration and database. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../world/free-port.ts';
import { folder } from './certificate.ts';
import { HIVEMIND } from './python-peer.ts';

const run = promisify(execFile);

// Installs missing packages before the first test starts.
spawnSync(HIVEMIND[0]!, [...HIVEMIND.slice(1), 'python', '-c', ''], { stdio: 'inherit' });

/** The environment of a HiveMind program whose files are all in a directory of this process. */
export function homeIn(name: string): NodeJS.ProcessEnv {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
  };
}

export interface HubOptions {
  /** Whether it has TLS (default true). */
  readonly ssl?: boolean;
  /** Over what clients reach it (default WebSocket). */
  readonly carrier?: 'websocket' | 'http';
  /** Further network plugins, with their settings. */
  readonly others?: object;
  /** The first release with Noise, instead of the newest. */
  readonly older?: 'hivemind-4';
}

export class HivemindHub {
  readonly port: number;
  /** Its home, which no other hub has. */
  readonly environment: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;

  /**
   * Writes the configuration.
   * @param settings - the members of a JSON object that replace the defaults, as a string, so that numbers keep their form
   */
  static async create(settings: string, options: HubOptions = {}): Promise<HivemindHub> {
    const { ssl = true, carrier = 'websocket', others, older } = options;
    const port = await freePort();
    const environment: NodeJS.ProcessEnv = { ...process.env, ...homeIn(`hub-${port}`), OLDER: older };
    const directory = join(environment.XDG_CONFIG_HOME!, 'hivemind-core');
    mkdirSync(directory, { recursive: true });
    const network = { host: '127.0.0.1', port, ssl, cert_dir: folder, cert_name: 'hivemind' };
    const networks = JSON.stringify({ [`hivemind-${carrier}-plugin`]: network, ...others });
    writeFileSync(join(directory, 'server.json'), `{"network_protocol":${networks},${settings}}`);
    return new HivemindHub(port, environment);
  }

  private constructor(port: number, environment: NodeJS.ProcessEnv) {
    this.port = port;
    this.environment = environment;
  }

  /** Runs a command of the hub, such as `add-client`, and returns its output. */
  async command(...words: string[]): Promise<string> {
    const [program, ...launcher] = HIVEMIND;
    const { stdout } = await run(program!, [...launcher, 'hivemind-core', ...words], {
      env: this.environment,
    });
    return stdout;
  }

  /**
   * @param options - `--echo` for a hub that sends back what it receives, and has no agent; `--speech` for one with the binary
   *   protocol of its configuration; `--agent` for one with the agent of its configuration
   */
  async start(...options: ('--echo' | '--speech' | '--agent')[]): Promise<void> {
    const [program, ...launcher] = HIVEMIND;
    const script = new URL('hivemind_hub.py', import.meta.url).pathname;
    const log = openSync(join(folder, 'hub.log'), 'a');
    this.#child = spawn(program!, [...launcher, 'python', script, ...options], {
      env: this.environment,
      stdio: ['pipe', log, log],
    });
    closeSync(log);
    for (let i = 0; !(await isListening(this.port)); i++) {
      if (i === 300 || this.#child.exitCode !== null)
        throw new Error(`the hub did not start:\n${this.log()}`);
      await setTimeout(100);
    }
  }

  async stop(): Promise<void> {
    if (this.#child === undefined || this.#child.exitCode !== null) return;
    const gone = new Promise((resolve) => this.#child!.once('exit', resolve));
    this.#child.kill();
    await gone;
  }

  /** Everything that the hub has logged. */
  log(): string {
    return readFileSync(join(folder, 'hub.log'), 'utf8');
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
