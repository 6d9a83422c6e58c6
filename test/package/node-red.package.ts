/** The nodes of examples/node-red in Node-RED, installed as docs/guides/node-red.md says, with a flow that asks a hub. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../world/free-port.ts';
import { emptyFolder, TOOLS, userEnvironment } from './packed.ts';

const test = suite('Node-RED');
/** The newest when this was written, and a Node.js that it takes. */
const VERSION = '5.0.7';
const NODE = `${TOOLS}node-24/bin/node`;
const folder = emptyFolder('node-red');
const nodeId = 'hub-1';
const clients = new Map([['flow', { psk: derivePsk({ crypto, password: 'correct horse', nodeId }) }]]);

/** A flow: what is posted to /ask is asked, and answered with the parts and the answer. */
const FLOW = [
  { id: 'tab', type: 'tab', label: 'talk' },
  { id: 'house', type: 'hub', plaintext: true },
  { id: 'in', z: 'tab', type: 'http in', url: '/ask', method: 'post', wires: [['ask']] },
  { id: 'ask', z: 'tab', type: 'hub ask', hub: 'house', wires: [['part'], ['whole']] },
  ...[
    {
      id: 'part',
      func: "flow.set('parts', [...flow.get('parts') ?? [], [msg.notice, msg.payload]]);",
      wires: [],
    },
    {
      id: 'whole',
      func: "msg.payload = { parts: flow.get('parts'), text: msg.payload, ending: msg.ending }; return msg;",
      wires: [['out']],
    },
  ].map((node) => ({ ...node, z: 'tab', type: 'function' })),
  { id: 'out', z: 'tab', type: 'http response', wires: [] },
];

test.before(async () => {
  const args = ['install', `node-red@${VERSION}`, 'hub-protocol', 'hub-protocol-client'];
  await promisify(execFile)('npm', args, { cwd: folder, env: await userEnvironment, timeout: 600_000 });
  mkdirSync(join(folder, 'nodes'));
  for (const name of ['hub.cjs', 'hub.html'])
    cpSync(new URL(`../../examples/node-red/${name}`, import.meta.url), join(folder, 'nodes', name));
});

test(`a flow of Node-RED ${VERSION} asks, and gets the notice, the parts and the answer`, async () => {
  const hub = await serveHub({ nodeId, staticKey: randomBytes(32), clients });
  const port = await freePort();
  const identity = JSON.stringify({
    ...{ access_key: 'flow', password: 'correct horse', site_id: 'home' },
    ...{ data_plane_endpoints: { wss: hub.url }, ai_disclosure: { en: 'An AI answers.' } },
  });
  writeFileSync(join(folder, 'flow.json'), JSON.stringify(FLOW));
  writeFileSync(join(folder, 'flow_cred.json'), JSON.stringify({ house: { identity } }));
  const settings = { flowFile: 'flow.json', uiPort: port, uiHost: '127.0.0.1', credentialSecret: false };
  writeFileSync(join(folder, 'settings.cjs'), `module.exports = ${JSON.stringify(settings)};`);
  const red = join(folder, 'node_modules/node-red/red.js');
  const child = spawn(NODE, [red, '--userDir', folder, '--settings', join(folder, 'settings.cjs')]);
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      printed += data;
    });
  try {
    while (!printed.includes('Started flows') && child.exitCode === null) await once(child.stdout, 'data');
    const ask = async (payload: string): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${port}/ask`, {
        ...{ method: 'POST', body: payload, headers: { 'content-type': 'text/plain' } },
        signal: AbortSignal.timeout(60_000),
      });
      return response.json();
    };
    const one = ['An AI answers.', 'You said: one'];
    assert.equal(await ask('one'), { parts: [one], text: 'You said: one', ending: 'handled' }, printed);
    assert.equal(await ask('two'), {
      ...{ parts: [one, [null, 'You said: two']], text: 'You said: two', ending: 'handled' },
    });
    assert.not.match(printed, '[error]');
  } finally {
    child.kill();
    await hub.stop();
  }
});

test.run();
