/**
 * What the rows of the table should reach: the most that the ratio may be, or the bytes. Where one falls short, `reason` says
 * why. The key is the row's name, with ` beside ` and the peer's where there is one.
 */
export interface Target {
  readonly most: number;
  readonly reason?: string;
}

export const TARGETS: { readonly [row: string]: Target } = {
  'XXpsk2, node, keys imported once beside an earlier build': {
    most: 0.1,
    reason: 'node:crypto’s own X25519 and key imports are most of what is left',
  },
  'KKpsk0, node, keys imported once beside an earlier build': {
    most: 0.1,
    reason: 'node:crypto’s own X25519 and key imports are most of what is left',
  },
  'XXpsk2, node beside noise-handshake XX, libsodium': {
    most: 1,
    reason: 'node:crypto’s own X25519 and key imports take as long as all of libsodium’s handshake',
  },
  'seal and open 64 bytes, node beside raw node:crypto': { most: 1.5 },
  'seal and open 1024 bytes, node beside raw node:crypto': { most: 1.3 },
  'seal and open 65000 bytes, node beside raw node:crypto': {
    most: 1.15,
    reason: 'a message has its tag joined to it, which takes a copy',
  },
  'seal and open 65000 bytes, noble beside raw noble': { most: 1.05 },
  '32 MiB, JSON, ASCII beside 32 MiB, binary': {
    most: 1.3,
    reason: 'text is checked, encoded and decoded on top of what binary takes',
  },
  '32 MiB, JSON, é beside 32 MiB, binary': {
    most: 1.3,
    reason: 'text is checked, encoded and decoded on top of what binary takes',
  },
  '32 MiB, JSON, ASCII beside 16 MiB of it': { most: 2.1 },
  '32 MiB, JSON, é beside 16 MiB of it': { most: 2.1 },
  '32 MiB, binary beside 16 MiB of it': { most: 2.1 },
  'parseJson, HELLO beside JSON.parse': { most: 3 },
  'parseJson, 13.5 KB beside JSON.parse': { most: 3 },
  'parseJson, 100 KB beside JSON.parse': { most: 3 },
  'parseJson, 100 KB of floats beside JSON.parse': {
    most: 3,
    reason: 'a fraction stays the token it came as, so each becomes an object',
  },
  'canonicalJson, HELLO beside canonicalize': { most: 1 },
  'canonicalJson, 13.5 KB beside canonicalize': { most: 1 },
  'canonicalJson, 100 KB beside canonicalize': { most: 1 },
  'canonicalJson, 100 KB of floats beside canonicalize': { most: 1 },
  'argon2id, 64 MiB, 3 passes beside an earlier build': { most: 1.05 },
  'an idle session of a client': { most: 4096 },
  'an idle session of a hub': { most: 4096 },
  'import of `hub-protocol-client` beside import of ws': { most: 1.5 },
  '1,000 clients over TLS after a restart beside ws': { most: 1.5 },
  'connections 1 to 100, XXpsk2 beside connections 901 to 1000': { most: 2.5 },
  '10,000 requests wait in a queue': { most: 50 },
  // Whatever a message left behind would take 12 bytes at least; V8 itself varies by some KiB.
  'left behind by a message': { most: 0.5 },
};
