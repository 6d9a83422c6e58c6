/** Envelopes for a mesh, as HiveMind's hub reads them: two of our clients at one hub. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectClient } from 'hub-protocol-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  authorizedUrl,
  buildUtterance,
  createKeyring,
  type JsonObject,
  type Keyring,
  parseIdentity,
  readHubEvent,
  wrap,
} from '../../src/index.ts';
import type { WrapperType } from '../../src/requests/wrap.ts';
import { authority } from './certificate.ts';
import { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { type Account, Connection } from './our-client.ts';
import { versionOf } from './python-peer.ts';

const PASSWORD = 'correct horse battery staple';
const SUITE = '25519_ChaChaPoly_SHA256';
/** The site of the hub, which is in its identity. */
const SITE = 'attic';
const UTTERANCE = buildUtterance({ requestId: 'r1', text: 'who is at home?' });

const test = suite('envelopes for a mesh at HiveMind’s hub');
const hub = await HivemindHub.create('"allowed_ciphers":[]');
const identities = join(hub.environment.XDG_CONFIG_HOME!, 'hivemind');
mkdirSync(identities, { recursive: true });
writeFileSync(join(identities, '_identity.json'), JSON.stringify({ site_id: SITE }));
test.after(() => hub.stop());

const accounts = new Map<string, Account>();

/**
 * Connects a client that the hub knows, and waits until the hub has its HELLO. A client is ready when it has sent its last
 * handshake message, but the hub forwards to it only after its HELLO. An answer shows that the hub has read that.
 */
async function connect(accessKey: string): Promise<Connection> {
  const account = accounts.get(accessKey) ?? {
    url: authorizedUrl(`wss://localhost:${hub.port}`, 'interop', accessKey),
    ca: authority,
    identity: parseIdentity({ access_key: accessKey, password: PASSWORD, site_id: 'lobby' }),
    staticKey: randomBytes(32),
    suite: SUITE,
  };
  accounts.set(accessKey, account);
  const connection = new Connection(account);
  await connection.first('ready');
  connection.sendJson(UTTERANCE);
  await envelopesUntil(connection, isHandled);
  return connection;
}

const isHandled = (envelope: JsonObject): boolean =>
  readHubEvent(envelope)?.type === 'ovos.utterance.handled';

/** The envelopes that arrive, up to the first for which `isLast` holds. */
async function envelopesUntil(
  connection: Connection,
  isLast: (envelope: JsonObject) => boolean,
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (;;) {
    for (const message of await connection.messages()) {
      if (message.kind !== 'json') continue;
      const envelope = JSON.parse(message.text) as JsonObject;
      found.push(envelope);
      if (isLast(envelope)) return found;
    }
  }
}

const textsIn = ({ payload }: JsonObject) => readHubEvent(payload as JsonObject)?.data.utterances;
const typeInside = ({ payload }: JsonObject): string | undefined => readHubEvent(payload as JsonObject)?.type;
const row = {
  peer: 'hivemind-core',
  version: versionOf('hivemind-core'),
  role: 'hub' as const,
  suite: SUITE,
};
const check = (what: string, run: () => Promise<string | undefined>) =>
  compare(test, { ...row, pattern: 'both', what }, run);

let number = 0;
/** Adds a client under its own name. Returns its number at the hub. */
async function add(accessKey: string, ...words: string[]): Promise<string> {
  const allowed = ['--allow', 'recognizer_loop:utterance'];
  await hub.command('add-client', '--access-key', accessKey, '--password', PASSWORD, ...allowed, ...words);
  number++;
  return String(number);
}

check('wrapped messages reach another client', async () => {
  await add('first', '--admin', 'true');
  await add('second');
  await hub.start();
  const [first, second] = [await connect('first'), await connect('second')];
  for (const type of ['propagate', 'broadcast', 'cascade'] as const) {
    first.sendJson(wrap(type, UTTERANCE));
    const [envelope] = await envelopesUntil(second, ({ msg_type }) => msg_type === type);
    assert.equal(textsIn(envelope!), ['who is at home?']);
  }
  await first.close();
  await second.close();
  return undefined;
});

check('answers to queries carry the query’s id', async () => {
  const connection = await connect('second');
  for (const type of ['query', 'cascade'] as const) {
    connection.sendJson(wrap(type, UTTERANCE, { queryId: `of-${type}` }));
    const answers = await envelopesUntil(
      connection,
      (envelope) => typeInside(envelope) === 'hive.query.complete',
    );
    for (const { msg_type, metadata } of answers) {
      assert.is(msg_type, type);
      assert.is((metadata as JsonObject).query_id, `of-${type}`);
      assert.is((metadata as JsonObject).is_response, true);
    }
    assert.equal(answers.map(typeInside), ['speak', 'hive.query.complete']);
  }
  await collectWithClient(connection);
  await connection.close();
  return undefined;
});

/** `hub-protocol-client` collects answers, and hears what another client and the hub send that is no bus message. */
async function collectWithClient(other: Connection): Promise<void> {
  await add('collector');
  const issued = {
    access_key: 'collector',
    password: PASSWORD,
    default_master: `wss://localhost:${hub.port}`,
  };
  let keyring = createKeyring({ accessKey: 'collector', staticKey: randomBytes(32), crypto: nodeCrypto });
  const update = (change: (stored: Keyring) => Keyring): void => {
    keyring = change(keyring);
  };
  await using client = connectClient({
    identity: parseIdentity(issued),
    socket: { ca: authority },
    keyring: { load: () => keyring, update },
  });
  const { ending, reply, hub: name } = await client.query('who is at home?');
  assert.equal([ending, reply.text, typeof name], ['handled', 'You said: who is at home?', 'string']);
  const told: string[] = [];
  const answers = await client.cascade('who is at home?', {
    timeout: 3000,
    onAnswer: ({ reply }) => told.push(reply.text),
  });
  assert.equal([answers.length, told], [1, ['You said: who is at home?']]);
  const heard: JsonObject[] = [];
  client.on('envelope', ({ envelope }) => heard.push(envelope));
  const until = async (holds: (envelope: JsonObject) => boolean): Promise<JsonObject> => {
    for (;;) {
      const found = heard.find(holds);
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  other.sendJson(wrap('propagate', UTTERANCE));
  assert.equal(textsIn(await until(({ msg_type }) => msg_type === 'propagate')), ['who is at home?']);
  const ping = { msg_type: 'ping', payload: { flood_id: 'f1', timestamp: 0 } };
  client.send({ msg_type: 'propagate', payload: ping });
  await until(({ payload }) => Object(Object(payload).payload).flood_id === 'f1');
  client.send({ msg_type: 'rendezvous', payload: {} });
  const { payload } = await until(({ msg_type }) => msg_type === 'rendezvous');
  assert.is((payload as JsonObject).reason, 'not_a_rendezvous_node');
}

check('a wrapped bus message reaches the hub of its site', async () => {
  const connection = await connect('second');
  for (const type of ['propagate', 'escalate'] as const) {
    connection.sendJson(wrap(type, UTTERANCE, { targetSiteId: SITE }));
    await envelopesUntil(connection, isHandled);
  }
  await connection.close();
  return undefined;
});

check('a message that the client may not send ends its connection', async () => {
  const id = await add('third');
  const refused = async (type: WrapperType): Promise<number | undefined> => {
    const connection = await connect('third');
    connection.sendJson(wrap(type, UTTERANCE));
    return (await connection.first('ended')).code;
  };
  assert.is(await refused('broadcast'), 4003); // a client that is no administrator
  await hub.command('blacklist-escalate', id);
  await hub.command('blacklist-propagate', id);
  for (const type of ['escalate', 'query', 'propagate', 'cascade'] as const)
    assert.is(await refused(type), 4003, type);
  return undefined;
});

test.run();
