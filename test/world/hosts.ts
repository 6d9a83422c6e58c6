/**
 * Hosts that an identity may name and that the platform's URL class refuses. The core splits addresses without that class,
 * since many devices lack one, and it does not judge hosts as the WHATWG standard does.
 */
import { parseIdentity, selectEndpoint } from '../../src/index.ts';
import { Random } from './random.ts';

/** One of each kind: too many parts, too large a part, not octal, not a number, not Punycode, not IPv6, not a domain. */
const CLASSICS = [
  '300.1.1.1',
  '1.2.3.4.5',
  '4294967296',
  '09',
  'hub.09',
  'hub.0x',
  'xn--a',
  'hub.xn--a.example',
  '[1:2]',
  '[:::1]',
  '[::1::2]',
  '[::1.2.3]',
  '[12345::]',
  '\u00ad',
  'hub\uff0fexample',
  'hub\uff05example',
  '\u2100.example',
];

/** How many to try at each place that takes an address: these, and others of each form below. */
export const HOSTS: number = Number(process.env.FUZZ_RUNS ?? 60);

/** What hosts are made of. */
const LABELS = ['hub', 'a', 'xn--', 'xn--a', '0x', '08', '256', '65536', '4294967296', '-', '_', '~'];
const GROUPS = ['', '0', '1', 'ffff', 'fffff', '1.2.3.4', '256.1.1.1', '.'];
const ODD = [
  '\u00ad',
  '\u2100',
  '\uff05',
  '\uff0f',
  '\uff1a',
  '\ufffd',
  '\u{e0100}',
  '\u0378',
  '\ue000',
  '\u200d',
];

/**
 * Returns different hosts that `selectEndpoint` takes for each protocol, and for which `new URL` throws.
 * @param seed - the same seed gives the same hosts, as far as the URL classes of two platforms agree
 */
export function refusedHosts(count: number, seed = 1): string[] {
  const random = new Random(seed);
  const hosts = new Set<string>();
  for (const host of CLASSICS) if (hosts.size < count && isRefused(host)) hosts.add(host);
  while (hosts.size < count) {
    const host = randomHost(random);
    if (isRefused(host)) hosts.add(host);
  }
  return [...hosts];
}

function randomHost(random: Random): string {
  const some = (least: number, most: number, make: () => string): string[] =>
    Array.from({ length: least + random.below(most - least + 1) }, make);
  const label = (): string => random.pick([...LABELS, String(random.below(1000))]);
  switch (random.below(4)) {
    case 0:
      return some(1, 6, () => String(random.below(512))).join('.');
    case 1:
      return some(1, 4, () => some(1, 3, label).join('')).join('.');
    case 2:
      return `[${some(2, 10, () => random.pick(GROUPS)).join(':')}]`;
    default:
      return some(1, 3, () => label() + random.pick(ODD)).join('.');
  }
}

/** An identity as issued, with a host for all protocols. */
export function issuedWith(host: string): object {
  return {
    access_key: ACCESS_KEY,
    password: 'correct horse',
    site_id: 'lobby',
    protocols: { wss: true, https: true, mqtt: true },
    data_plane_endpoints: { wss: `wss://${host}:5678`, https: `https://${host}:5678` },
    mqtt: { endpoint: `mqtts://${host}:8883`, username: 'u', password: 'p', topic_prefix: 'hm/t1/kiosk-7' },
  };
}

/** The access key of these identities, which nobody may see. */
export const ACCESS_KEY = 'kiosk-7-access-key';

function isRefused(host: string): boolean {
  try {
    const identity = parseIdentity(issuedWith(host));
    for (const requested of ['wss', 'https', 'mqtt'] as const) selectEndpoint(identity, { requested });
  } catch {
    return false;
  }
  return !URL.canParse(`wss://${host}:5678`);
}
