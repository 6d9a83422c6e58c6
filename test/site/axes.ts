/**
 * The places where other people run a kiosk: six axes, and what each value makes of it. A value without `says` lets it connect. With
 * `says` it does not, or its question gets no answer, and this is in the sentence that the kiosk shows: the cause and the remedy.
 */

/** One value of each axis, in the order of the axes. */
export type Cell = readonly string[];

export interface Value {
  readonly says?: RegExp;
  /** Values of one kind take turns. */
  readonly kind?: string;
}

/** The way from the kiosk to the server. */
export interface Network extends Value {
  /** Seconds that a packet takes, and the share of those that are lost (default: none). */
  readonly line?: readonly [delay: number, loss: number];
  /** What the name of the server stands for (default: its IPv4 address). */
  readonly addresses?: readonly string[];
  /** How long a resolver takes, in seconds (default: no time); `undefined` answers that there is no such name. */
  readonly dns?: number | 'no such name' | 'no answer';
  /** IPv6 only. */
  readonly isOnly6?: boolean;
  /** What the clock of the kiosk says. */
  readonly clock?: string;
}

/** What is at port 443, in front of the hub. `$…` in a configuration are a folder, and the port of the hub. */
export interface Front extends Value {
  readonly program?: 'nginx' | 'haproxy' | 'caddy';
  readonly configuration?: string;
  /** The path of the hub's address. */
  readonly path?: string;
  /** Whether the hub's address has an IP address instead of its name. */
  readonly isByAddress?: boolean;
}

/** What is at port 8883, between the kiosk and a hub over MQTT. */
export interface Broker extends Value {
  readonly program?: 'mosquitto' | 'aedes' | 'mochi' | 'rabbitmq';
  /** Fields of the identity. */
  readonly mqtt?: object;
  /** The levels that all topics start with (default: hivemind/hub). */
  readonly base?: string;
  /** More lines of its configuration, for the listener of clients, and for all. */
  readonly configuration?: string;
  readonly general?: string;
  /** What the kiosk is asked (default: hello). */
  readonly question?: string;
}

/** Where the keyring is: a script of bash that makes the folder `place`. */
export interface Disk extends Value {
  readonly script: string;
  /** Whether the keyring in $PINNED is used, which knows the hub; otherwise the one in $NEW may be, which does not. */
  readonly isPinned?: boolean;
  /** What is in the sentence at the next start, if that does not connect. */
  readonly saysNext?: RegExp;
  /** A script between the two starts. */
  readonly between?: string;
}

type Axis<T extends Value> = { readonly [name: string]: T };

const NEAR = '10.9.0.1';
const NO_WAY = 'no way to the server';

export const NETWORKS: Axis<Network> = {
  'plain network': {},
  '600 ms there and back': { line: [0.3, 0] },
  'every tenth packet lost': { line: [0.02, 0.1] },
  'dead IPv6, 320 ms': { line: [0.16, 0], addresses: [NEAR, '2001:db8::1'] },
  'IPv6 only': { isOnly6: true, addresses: ['fd00:9::1'] },
  'slow DNS': { dns: 3 },
  'a proxy that idles out': { addresses: ['10.9.0.3'] },
  'no such name': {
    kind: NO_WAY,
    dns: 'no such name',
    says: /name hub\.test was not found.*Check the name/,
  },
  'no DNS': {
    kind: NO_WAY,
    dns: 'no answer',
    says: /hub\.test cannot be resolved.*connected to the network/,
  },
  'a captive portal': { kind: NO_WAY, addresses: ['10.9.0.4'], says: /certificate.*(?:login page|log in)/ },
  'a clock of 2010': { kind: NO_WAY, clock: '2010-01-01', says: /not valid yet.*[Ss]et the clock.*2010/ },
};

const nginx = (inServer: string, inLocation: string, rest: Value = {}): Front => ({
  program: 'nginx',
  path: '/hubs/one/',
  ...rest,
  configuration: `daemon off; user root; pid $FOLDER/nginx.pid; error_log $FOLDER/nginx.log;
events {}
http {
  access_log off;
  server {
    listen 10.9.0.1:443 ssl; listen [fd00:9::1]:443 ssl;
    ssl_certificate $FOLDER/hub.pem; ssl_certificate_key $FOLDER/hub.key;
    ${inServer}
    location /hubs/one/ {
      ${inLocation}
      proxy_pass https://127.0.0.1:$PORT/;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
    }
  }
}`,
});
const haproxy = (bind: string, rest: Front = {}): Front => ({
  program: 'haproxy',
  ...rest,
  configuration: `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout tunnel 1h
frontend all
  bind 10.9.0.1:443,[fd00:9::1]:443 ssl crt $FOLDER/both.pem ${bind}
  default_backend hub
backend hub
  server hub 127.0.0.1:$PORT ssl verify none
`,
});
const caddy = (port: string, rest: Value = {}): Front => ({
  program: 'caddy',
  ...rest,
  configuration: `{
  admin off
  auto_https off
}
https://hub.test {
  bind 10.9.0.1 fd00:9::1
  tls $FOLDER/hub.pem $FOLDER/hub.key
  reverse_proxy https://127.0.0.1:${port} {
    transport http {
      tls_insecure_skip_verify
    }
  }
}
`,
});
const ANSWER = 'an answer instead of the hub’s';
const NO_TLS = 'TLS is refused';
const LOGIN = 'auth_basic hub; auth_basic_user_file $FOLDER/accounts;';

export const FRONTS: Axis<Front> = {
  'nothing in front': {},
  'nginx, a path prefix': nginx('', ''),
  'nginx, no User-Agent refused': nginx('', 'if ($http_user_agent = "") { return 403; }'),
  'nginx, a login': nginx(LOGIN, '', { kind: ANSWER, says: /wants a login \(HTTP 401\).*authorization/ }),
  'nginx, 301': nginx('return 301 https://www.hub.test$request_uri;', '', {
    kind: ANSWER,
    says: /redirects.*\(HTTP 301\).*own address/,
  }),
  'nginx, 429': nginx('', 'return 429;', {
    kind: ANSWER,
    says: /too many connections.*HTTP 429.*raise the limit/,
  }),
  'Caddy, 502': caddy('1', { kind: ANSWER, says: /gets no answer from the hub \(HTTP 502\)/ }),
  HAProxy: haproxy(''),
  'HAProxy, strict SNI': haproxy('strict-sni', {
    kind: NO_TLS,
    isByAddress: true,
    says: /no certificate for .*Use its name/,
  }),
  'HAProxy, client certificates': haproxy('ca-file $FOLDER/ca.pem verify required', {
    kind: NO_TLS,
    says: /wants a client certificate.*cert, key/,
  }),
  'Caddy, HTTP/2 offered': caddy('$PORT'),
};

const mosquitto = (configuration = '', rest: Broker = {}): Broker => ({
  program: 'mosquitto',
  configuration,
  ...rest,
});
const LIMITS = 'a broker with limits';
const OTHER = 'another broker';
const REFUSES = 'a broker without a way';

export const BROKERS: Axis<Broker> = {
  'no broker': {},
  mosquitto: mosquitto(),
  'mosquitto, no retain': mosquitto('retain_available false', { kind: LIMITS }),
  'mosquitto, QoS 0 only': mosquitto('max_qos 0', { kind: LIMITS }),
  'mosquitto, anonymous': mosquitto('allow_anonymous true', { kind: LIMITS }),
  'mosquitto, 20 kB': mosquitto('message_size_limit 20000', {
    question: 'x'.repeat(30_000),
    says: /length.*packets of 66 kB/,
  }),
  'mosquitto, other client ids': mosquitto('', {
    kind: REFUSES,
    general: 'clientid_prefixes hub-hub',
    says: /client id.*option clientId/,
  }),
  'mosquitto, renamed topics': mosquitto('mount_point kiosks/', {
    kind: REFUSES,
    says: /hub does not answer through the broker.*renames topics/,
  }),
  'mosquitto, client certificates': mosquitto('require_certificate true', {
    kind: REFUSES,
    says: /wants a client certificate|does not accept the client certificate/,
  }),
  'RabbitMQ, a dot in topics': {
    ...{ program: 'rabbitmq', kind: REFUSES, base: 'hivemind/hub.localhost' },
    says: /delivers messages under other topics.*without a dot/,
  },
  RabbitMQ: { program: 'rabbitmq', kind: OTHER },
  'mochi, MQTT 5 only': {
    program: 'mochi',
    kind: OTHER,
    mqtt: { endpoint: 'mqtt://hub.test:8883', tls: true },
  },
  aedes: { program: 'aedes', kind: OTHER, mqtt: { endpoint: 'ssl://hub.test:8883' } },
};

const FOLDER = 'install -d -o 4242 place';
const TMPFS = 'mkdir place; mount -t tmpfs -o uid=4242,gid=4242,size=64k tmpfs place';
const FILL = 'dd if=/dev/zero of=place/other bs=4k || true';
const INSTALL = 'install -o 4242 -g 4242 -m 600';
const MOUNT = 'touch place/keyring.json; mount --bind host.json place/keyring.json';
const exfat = (options: string): string => `mkdir place; truncate -s 16M card; mkfs.exfat card
  loop=$(losetup --find --show card); mount.exfat-fuse -o uid=4242,gid=4242,${options} $loop place; losetup --detach $loop`;
const LINK = 'install -d -o 4242 other; ln -s ../other/keyring.json place/keyring.json';
const UNNEEDED = 'nothing can be stored, nor needs to be';
const NO_PLACE = 'no place for a keyring';

export const DISKS: Axis<Disk> = {
  'plain folder': { script: FOLDER },
  'exFAT, its owner’s': { script: exfat('umask=0077') },
  'exFAT, everybody’s': {
    kind: NO_PLACE,
    script: exfat('umask=0000'),
    says: /lets others read.*another one.*umask=077/,
  },
  'read-only, pinned': {
    ...{ kind: UNNEEDED, isPinned: true },
    script: `${TMPFS}; ${INSTALL} $PINNED place/keyring.json; mount -o remount,ro place`,
  },
  'full, pinned': {
    ...{ kind: UNNEEDED, isPinned: true },
    script: `${TMPFS}; ${INSTALL} $PINNED place/keyring.json; ${FILL}`,
  },
  'a mounted file, pinned': {
    ...{ kind: UNNEEDED, isPinned: true },
    script: `${FOLDER}; ${INSTALL} $PINNED host.json; ${MOUNT}`,
  },
  'read-only': { kind: NO_PLACE, script: `${TMPFS}; mount -o remount,ro place`, says: /EROFS.*another disk/ },
  full: { kind: NO_PLACE, script: `${TMPFS}; ${FILL}`, says: /ENOSPC.*Make room/ },
  'a mounted file': {
    kind: NO_PLACE,
    script: `${FOLDER}; ${INSTALL} $NEW host.json; ${MOUNT}`,
    says: /EBUSY.*Mount its folder/,
  },
  'another user’s': {
    kind: NO_PLACE,
    script: 'mkdir place; install -m 600 $NEW place/keyring.json',
    says: /EACCES.*no right.*owner/,
  },
  'a symbolic link': {
    script: `${FOLDER}; ${LINK}; chown -h 4242 place/keyring.json`,
    between: 'test -L place/keyring.json && test -s other/keyring.json',
  },
  'its group may read': {
    isPinned: true,
    script: `${FOLDER}; ${INSTALL} $PINNED place/keyring.json; chmod 640 place/keyring.json`,
    between: '[ $(stat -c %a place/keyring.json) = 600 ]',
  },
  'a tmpfs that is lost': {
    script: TMPFS,
    between: 'umount place; mount -t tmpfs -o uid=4242,gid=4242 tmpfs place',
    saysNext: /another key|other key|this client’s key/,
  },
};

export const PACKAGINGS: readonly string[] = [
  'no bundler',
  'esbuild',
  'webpack, electron-main',
  'ncc',
  'Vite',
  'Jest',
  'Vitest',
  'one executable',
];

export const RUNTIMES: readonly string[] = 'Node.js 20|Node.js 22|Node.js 24|Node.js 26|Bun|Deno'.split('|');

/** The kinds of an axis. */
export const kindsOf = (axis: Axis<Value>): string[] => [
  ...new Set(Object.entries(axis).map(([name, { kind = name }]) => kind)),
];

/** Why two kinds of different axes cannot meet; `undefined` if they can. */
export function cannotMeet(one: string, other: string): string | undefined {
  const has = (test: (kind: string) => unknown): boolean => Boolean(test(one) || test(other));
  const isBeyond =
    (axis: Axis<Value>, from = 1) =>
    (kind: string) =>
      kindsOf(axis).indexOf(kind) >= from;
  const is =
    (...kinds: string[]) =>
    (kind: string) =>
      kinds.includes(kind);
  if (has(isBeyond(FRONTS)) && has(isBeyond(BROKERS)))
    return 'what stands in front of a hub speaks HTTP, and a broker MQTT';
  if (has(is('no place for a keyring')) && [NETWORKS, FRONTS, BROKERS].some((axis) => has(isBeyond(axis))))
    return 'without a keyring, nothing is dialled';
  if (has(is('no way to the server')) && (has(isBeyond(FRONTS)) || has(isBeyond(BROKERS, 2))))
    return 'the way ends before the server';
  if (
    has(isBeyond(DISKS)) &&
    has(is('an answer instead of the hub’s', 'TLS is refused', 'a broker without a way'))
  )
    return 'nothing is stored before the server has answered';
  if (has(is('Bun', 'Deno')) && has(is('Jest', 'Vitest'))) return 'the test runner is a program for Node.js';
  if (has(is('Node.js 20')) && has(is('Vitest'))) return 'Vitest 5 needs Node.js 22';
  if (has(is('Deno')) && has(is('one executable')))
    return '`deno compile` downloads a part of Deno from outside of a package registry';
  return undefined;
}
