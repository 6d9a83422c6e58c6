/** Wraps envelopes for a mesh of hubs. docs/reference/requests.md, "Beyond the hub". */
import { type OptionNames, readArgument, readOptions } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import { composeEnvelope } from '../wire/envelope.ts';
import { isJsonObject, type JsonObject, ownField } from '../wire/json.ts';
import { assertNotBlank } from './white-space.ts';

/** The types of envelopes that contain another envelope. */
export type WrapperType = 'propagate' | 'escalate' | 'broadcast' | 'query' | 'cascade';

/** The options of `wrap`. */
export interface WrapOptions {
  /**
   * The site whose hub takes the bus message inside (on the wire: `target_site_id`). Without it, hubs only pass on a
   * `propagate`, `escalate` or `broadcast` (default none).
   */
  targetSiteId?: string | undefined;
  /**
   * The id that all answers to a `query` or `cascade` carry in their metadata (on the wire: `query_id`). The hub chooses one
   * otherwise (default none).
   */
  queryId?: string | undefined;
}

const TYPES: readonly WrapperType[] = ['propagate', 'escalate', 'broadcast', 'query', 'cascade'];
const OPTIONS: OptionNames<WrapOptions> = { targetSiteId: true, queryId: true };

/**
 * Wraps an envelope for a mesh of hubs, which handle it by its type.
 * @param type - `propagate` to all nodes, `escalate` to the hubs above, `broadcast` to the clients below, `query` for one answer
 *   from the hubs above, `cascade` for the answers of all
 * @param message - an envelope, such as those that `buildUtterance` returns; hubs refuse a bare bus message
 * @param options - the target site, and the id of the answers
 * @returns the envelope, to be passed to `sendJson`
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { buildUtterance, wrap } from 'hub-protocol';
 *
 * const utterance = buildUtterance({ requestId: 'r1', text: 'Who is at home?' });
 * const envelope = wrap('query', utterance, { queryId: 'q1' });
 * console.log(envelope.msg_type); // query
 */
export function wrap(type: WrapperType, message: JsonObject, options: WrapOptions = {}): JsonObject {
  const { targetSiteId, queryId } = readOptions(options, 'options', OPTIONS);
  const isEnvelope = readArgument(
    'message',
    () => isJsonObject(message) && typeof ownField(message, 'msg_type') === 'string',
  );
  if (!isEnvelope) {
    throw errors.expected('message', 'an envelope: an object with a msg_type');
  }
  if (TYPES.indexOf(type) < 0) {
    throw errors.expectedChoice('type', TYPES);
  }
  const envelope = composeEnvelope(type, message);
  if (targetSiteId !== undefined) envelope.target_site_id = assertNotBlank(targetSiteId, 'targetSiteId');
  if (queryId !== undefined) envelope.metadata = { query_id: assertNotBlank(queryId, 'queryId') };
  return envelope;
}
