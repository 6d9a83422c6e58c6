/** The options of a HubSession, and their form until the handshake is done. */
import { assertBytes, assertFunction, assertString, type OptionNames, readOptions } from '../arguments.ts';
import { type Bytes, concatBytes, copyBytes } from '../bytes.ts';
import { CheckedCrypto } from '../crypto/checked.ts';
import type { KeyPair } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { Pattern, Suite } from '../noise/patterns.ts';
import { writeEnvelope } from '../wire/envelope.ts';
import { composePayload, isStringArray, PROTOCOL_VERSION, speaksProtocol3 } from '../wire/handshake.ts';
import { type JsonObject, ownField } from '../wire/json.ts';
import { canonicalJson } from '../wire/write-json.ts';
import { type Offer, suitesOf } from './negotiation.ts';
import {
  assertFields,
  assertPatterns,
  OFFERED_PATTERNS,
  OFFERED_SUITES,
  type SessionOptions,
} from './options.ts';

/** The options of a HubSession. */
export interface HubOptions extends SessionOptions {
  /** The node id that clients pin this hub's static key under; not empty, and at most 4096 bytes of UTF-8. */
  nodeId: string;
  /**
   * The hub's static key: a private key of 32 bytes, or a key pair with `privateKey` or `sharedSecret`. Store it: clients pin
   * its public key, so it must be the same after a restart.
   */
  staticKey: Uint8Array | KeyPair;
  /** The client's pre-shared key, 32 bytes: `derivePsk` of its password and this node id. */
  psk: Uint8Array;
  /** The client's pinned static key, 32 bytes (default none: KKpsk0 is not offered). */
  clientKey?: Uint8Array | undefined;
  /** The patterns to offer (default both). XXpsk2 must be among them. */
  patterns?: Pattern[] | undefined;
  /** The suites to offer (default all that the crypto supports). The one with ChaChaPoly must be among them. */
  suites?: Suite[] | undefined;
  /** Further fields of the HELLO payload (default none). */
  hello?: JsonObject | undefined;
  /** Further fields of the HANDSHAKE payload. Some older clients need `handshake: true` in it (default none). */
  handshake?: JsonObject | undefined;
}

/** The names of all options. */
export const HUB_OPTIONS: OptionNames<HubOptions> = {
  crypto: true,
  randomBytes: true,
  maxMessage: true,
  maxFrame: true,
  inPlace: true,
  readBinary: true,
  nodeId: true,
  staticKey: true,
  psk: true,
  clientKey: true,
  patterns: true,
  suites: true,
  hello: true,
  handshake: true,
};

/** The options, read once and checked, in the form that the handshake needs. */
export interface HubPlan {
  /** As given. The channel checks those that it reads. */
  readonly options: SessionOptions;
  readonly crypto: CheckedCrypto;
  /** The caller's, as is `psk`: not yet copied. */
  readonly staticKey: Uint8Array | KeyPair;
  readonly psk: Uint8Array;
  /** A copy. */
  readonly clientKey: Bytes | undefined;
  readonly patterns: readonly Pattern[];
  readonly suites: readonly Suite[];
  /** HELLO and HANDSHAKE. */
  readonly greeting: readonly string[];
  /** The prologue without the protocol name. */
  readonly boundPrologue: Bytes;
}

/**
 * Reads and checks the options, except `staticKey`.
 * @throws LocalError `bad-argument`, `bad-length`, `suite-unavailable`; `not-json`, `unsafe-number`, `lone-surrogate` or
 *   `json-depth` if `hello` or `handshake` cannot be written as JSON
 */
export function readHubOptions(options: HubOptions): HubPlan {
  const given = readOptions(options, 'options', HUB_OPTIONS);
  const { crypto, randomBytes, nodeId, psk, clientKey } = given;
  const checkedCrypto = new CheckedCrypto(crypto);
  assertFunction(randomBytes, 'randomBytes');
  assertString(nodeId, 'nodeId');
  assertBytes(psk, 'psk', KEY_LENGTH);
  if (clientKey !== undefined) assertBytes(clientKey, 'clientKey', KEY_LENGTH);
  const patterns = assertPatterns(given.patterns).filter(
    (name) => name !== 'KKpsk0' || clientKey !== undefined,
  );
  const suites = assertSuites(given.suites, suitesOf(crypto));
  assertIncludes(patterns, OFFERED_PATTERNS[0]!, 'patterns');
  assertIncludes(suites, OFFERED_SUITES[0]!, 'suites');
  const hello = assertFields(given.hello, 'hello');
  const handshake = assertFields(given.handshake, 'handshake');
  if (ownField(hello, 'node_id') !== undefined || ownField(handshake, 'noise') !== undefined) {
    throw errors.reservedFields();
  }
  const helloPayload = composePayload({ node_id: nodeId }, hello);
  const offer = composePayload(
    {
      max_protocol_version: PROTOCOL_VERSION,
      noise: { patterns: patterns.slice(), suites: suites.slice() } satisfies Offer,
    },
    handshake,
  );
  if (!speaksProtocol3(offer)) {
    throw errors.expected('handshake', `a max_protocol_version of ${PROTOCOL_VERSION} or more`);
  }
  return {
    options: given,
    crypto: checkedCrypto,
    staticKey: given.staticKey,
    psk,
    clientKey: clientKey === undefined ? undefined : copyBytes(clientKey),
    patterns,
    suites,
    greeting: [writeEnvelope('hello', helloPayload), writeEnvelope('shake', offer)],
    boundPrologue: concatBytes([canonicalJson(helloPayload), canonicalJson(offer)]),
  };
}

/**
 * Checks that the crypto supports the suites given.
 * @returns the suites, by default all that the crypto supports
 * @throws LocalError `bad-argument`, `suite-unavailable`
 */
function assertSuites(suites: readonly Suite[] | undefined, own: readonly Suite[]): readonly Suite[] {
  if (suites !== undefined && !isStringArray(suites)) {
    throw errors.expected('suites', 'an array of suite names');
  }
  const offered = suites ?? own;
  if (offered.length === 0 || !offered.every((suite) => own.indexOf(suite) >= 0)) {
    throw errors.suitesUnavailable();
  }
  return offered.slice();
}

function assertIncludes(offered: readonly string[], required: string, name: string): void {
  if (offered.indexOf(required) < 0) {
    throw errors.expected(name, `${required}, which every hub must offer`);
  }
}
