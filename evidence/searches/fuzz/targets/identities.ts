/** Identities as issued, changed at random: what is read of them is safe to use, and nothing of their secrets is shown. */
import {
  authorizedUrl,
  brokerEndpoint,
  clientId,
  deriveTopics,
  disclosureDue,
  type Identity,
  parseIdentity,
  presence,
  redactIdentity,
  selectEndpoint,
  serializeIdentity,
} from '../../../../src/index.ts';
import type { Random } from '../../../../test/world/random.ts';
import { ask, breach, formsOf, showsNone } from '../law.ts';
import { anyJson, anyText, mutatedJson } from '../mutate.ts';

const SECRETS = ['s3cret-access-key-0f1e', 'correct horse 9a8b7c', 'br0ker-pa55word-6d5e'] as const;
const [ACCESS_KEY, PASSWORD, BROKER_PASSWORD] = SECRETS;
const FORMS = SECRETS.flatMap(formsOf);

const ISSUED = {
  access_key: ACCESS_KEY,
  password: PASSWORD,
  site_id: 'lobby',
  crypto_key: '',
  default_master: 'wss://hub.example',
  default_port: 5678,
  default_path: '/ws',
  protocols: { wss: true, https: true, mqtt: true },
  data_plane_endpoints: {
    wss: 'wss://hub.example/ws',
    https: 'https://hub.example',
    mqtt: 'mqtts://broker.example',
  },
  mqtt: {
    username: 'kiosk-7',
    password: BROKER_PASSWORD,
    tls: true,
    qos: 1,
    endpoint: 'mqtts://broker.example:8883',
    host: 'broker.example',
    port: 8883,
    topic_prefix: 'hivemind/kiosk-7',
    hub_id: 'hub-1',
    c2s_topic: 'hivemind/kiosk-7/in',
    s2c_topic: 'hivemind/kiosk-7/out',
    status_topic: 'hivemind/kiosk-7/status',
    hash_topics: false,
  },
  ai_disclosure: { en: 'This is an AI assistant.', fr: 'Ceci est un assistant.' },
};

export function identities(random: Random): void {
  let issued: unknown = ISSUED;
  for (let i = random.below(4); i > 0; i--) issued = mutatedJson(random, issued);
  const input = random.oneIn(2) ? issued : JSON.stringify(issued);
  const { value: identity } = ask('parseIdentity', () => parseIdentity(input as object)) as {
    value?: Identity;
  };
  if (identity === undefined) return;
  const text = ask('serializeIdentity', () => serializeIdentity(identity, { secrets: true }));
  if (text.error !== undefined) {
    if (typeof input === 'string') breach('an identity that was read cannot be written', text.error);
    return; // an object may contain what JSON cannot represent
  }
  const isShown = random.oneIn(16) && holds(identity);
  if (isShown) {
    showsNone(identity, FORMS, 'an identity');
    showsNone(
      ask('redactIdentity', () => redactIdentity(identity)),
      FORMS,
      'a redacted identity',
    );
  }
  const again = ask('parseIdentity', () => parseIdentity(text.value));
  if (again.error !== undefined) breach('an identity that was written cannot be read', again.error);
  if (JSON.stringify(serializeIdentity(again.value, { secrets: true })) !== JSON.stringify(text.value)) {
    breach('an identity changes when it is written and read');
  }
  connect(random, identity);
  disclose(random, identity);
}

/** Whether the secrets are where they belong, so that none of them may be shown. */
function holds(identity: Identity): boolean {
  const { accessKey, password, mqtt } = identity;
  const own = JSON.stringify(serializeIdentity(identity, { secrets: true }));
  const counts = SECRETS.map((secret) => own.split(secret).length - 1);
  return (
    accessKey === ACCESS_KEY &&
    password === PASSWORD &&
    mqtt?.password === BROKER_PASSWORD &&
    counts.every((count) => count <= 2)
  );
}

function connect(random: Random, identity: Identity): void {
  const allowPlaintext = random.oneIn(4);
  const requested = random.pick([undefined, 'wss', 'https', 'mqtt'] as const);
  const selected = ask('selectEndpoint', () => selectEndpoint(identity, { allowPlaintext, requested }));
  if (selected.error === undefined) {
    const { url, tls, protocol } = selected.value;
    if (!tls && !allowPlaintext) breach('an address without TLS was selected unasked');
    if (tls !== /^(wss|https|mqtts|ssl|tls|mqtt\+ssl):/i.test(url) && protocol !== 'mqtt')
      breach('an address is taken for one with TLS');
    const authorized = ask('authorizedUrl', () =>
      authorizedUrl(url, 'kiosk', identity.accessKey, { allowPlaintext }),
    );
    if (authorized.error === undefined && authorized.value.split(/[?&]authorization=/i).length !== 2) {
      breach('a URL with two authorizations, or none');
    }
  }
  const { mqtt } = identity;
  if (mqtt === undefined) return;
  ask('brokerEndpoint', () => brokerEndpoint(mqtt, { allowPlaintext }));
  const topics = ask('deriveTopics', () =>
    deriveTopics(mqtt, { accessKey: random.oneIn(2) ? identity.accessKey : undefined }),
  );
  if (topics.error === undefined) {
    for (const topic of Object.values(topics.value) as string[]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: which no topic may contain
      if (topic === '' || /[#+\u0000-\u001f]/.test(topic) || topic.startsWith('$'))
        breach('a topic that no client may use');
    }
    ask('presence', () => presence(topics.value));
  }
  const id = ask('clientId', () => clientId('kiosk', identity.accessKey));
  if (id.error === undefined && !/^kiosk-[\w-]{1,48}$/.test(id.value))
    breach('a client id with other characters');
}

function disclose(random: Random, identity: Identity): void {
  const language = random.oneIn(2)
    ? random.pick(['fr', 'fr-CA', 'en', 'FR_fr', '', 'x'])
    : anyText(random, 5);
  const source = random.oneIn(4) ? { aiDisclosure: anyJson(random) as never } : identity;
  const lastGiven = random.pick(['never', 'earlier-session', 'this-session'] as const);
  const disclosure = ask('disclosureDue', () =>
    disclosureDue(source, { language, lastGiven, isShared: random.oneIn(2) }),
  );
  if (disclosure.error === undefined && lastGiven === 'never' && !disclosure.value.due)
    breach('no disclosure at first contact');
}
