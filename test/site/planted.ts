/** Remedies of the client, taken back one at a time in what is built of client/src, and cells of which one then has to fail. */

export type Planted = readonly [name: string, file: string, from: string, to: string, cells: RegExp];

const MUST_REPLACE = 'if (!isNew && (pins.length === 0 || psks.length === 0))';

// biome-ignore format: one line for each
export const PLANTED: readonly Planted[] = [
  ['a quarter of a second for each address', 'causes', 'Math.min(5000, Math.ceil(timeout / 4))', '250', /dead IPv6.*no broker.*Node.js 2[024]/],
  ['no User-Agent', 'sockets', '...userAgentHeader(userAgent), ', '', /no User-Agent/],
  ['no derivation without a worker', 'derive-on-node', 'return inSlices(', 'throw error; return inSlices(', /plain folder × esbuild/],
  ['a hard link for a new keyring', 'atomic-file', 'renameFile(join(lock, name), path);', 'fs.linkSync(join(lock, name), path);', /exFAT, its owner/],
  ['a keyring that is replaced at each start', 'keyring-file', MUST_REPLACE, 'if (!isNew)', /read-only, pinned/],
  ['no attempt to store before the first contact', 'keyring-file', MUST_REPLACE, 'if (false)', /a mounted file ×/],
  ['a symbolic link that is replaced', 'atomic-file', 'target = resolve(dirname(target), fs.readlinkSync(target));', 'return target;', /a symbolic link/],
  ['permissions that stay', 'atomic-file', 'fs.chmodSync(path, 0o600);', '{}', /its group may read/],
  ['permissions that nobody looks at', 'atomic-file', 'throw new NotPrivate();', '{}', /exFAT, everybody/],
  ['TLS alerts that are not read', 'causes', 'return alert > 0 ? alert : undefined;', 'return undefined;', /HAProxy, (?:strict|client)/],
  ['a login that is not seen', 'ws', "headers['www-authenticate'] === undefined", 'true', /nginx, a login/],
  ['a will that a broker has to accept', 'broker', 'if (will?.retain && ', 'if (false && ', /no retain/],
  ['a level of QoS that a broker has to accept', 'broker', 'Math.min(qos, maximumQoS)', 'qos', /QoS 0 only/],
  ['MQTT 3.1.1 alone', 'broker', '{ protocolVersion: 5, ', '{ protocolVersion: 4, ', /MQTT 5 only/],
  ['topics that are not compared', 'mqtt', 'isRenamed ||= topic !== topics.subscribe', 'void topic', /a dot in topics/],
  ['a reason that is not known', 'mqtt', 'UNKNOWN_REASON.test(error.message)', 'false', /20 kB/],
];
