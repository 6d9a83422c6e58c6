/**
 * The three topics of a client: the issued ones, checked to lie in the client's scope, or derived ones.
 *
 * The current layout is `<prefix>/in`, `<prefix>/out` and `<prefix>/status`, where the prefix ends with the client's
 * own level. Earlier hubs use `<prefix>/<hub id>/c2s/<key>`, `…/s2c/<key>` and `…/status/<key>`. Spec, "Client library
 * contract": a client uses the topics that the API returned, or derives them only inside its scope. Public hubs and
 * clients use these layouts.
 */

import { assertString, readArgument, readOptions } from '../arguments.ts';
import { bytesToHex, utf8Length, utf8ToBytes } from '../bytes.ts';
import { sha256 } from '../crypto/sha256.ts';
import * as errors from '../errors-table.ts';
import { MQTT } from '../issued/aliases.ts';
import { MAX_TOPIC } from '../limits.ts';
import { hasBlanks, trimSlashes } from '../url.ts';
import { type IssuedMqtt, mqttFields, readMqtt } from './mqtt.ts';

/** The topics of a client. */
export interface Topics {
  /** From the client to the hub. */
  readonly publish: string;
  /** From the hub to the client. */
  readonly subscribe: string;
  /** For the client's presence, retained: see presence(). */
  readonly status: string;
}

/** The scope of a client's topics. */
interface Scope {
  /** The start of each topic: levels and a slash, or nothing. */
  readonly start: string;
  /**
   * Levels that name the client. Each topic has one of them after `start`; `undefined` if `start` names the client.
   */
  readonly ids: readonly string[] | undefined;
  /** Whether a topic with a single level after `start` needs none of these levels. */
  readonly isPrefixed: boolean;
  /** The derived topics; `undefined` if too little was issued. */
  readonly topics: Topics | undefined;
}

/**
 * Returns the topics that a client uses: each is issued, or derived if none was issued.
 *
 * An issued topic must start with the issued prefix, or with prefix and hub id in the layout of earlier hubs. Unless
 * the prefix ends with a level that names the client (access key, its hash, or user name), the topic must have such a
 * level itself, or be a single level below the prefix, as derived topics are. If neither prefix nor hub id was issued,
 * such a level anywhere in the topic is all that can be checked.
 * @param mqtt - `identity.mqtt`, or an `mqtt` object as issued
 * @param options - `accessKey`: required if `mqtt` does not contain it; without either, the user name for the broker is
 *   used
 * @returns the topics, each of at most 65535 bytes in UTF-8
 * @throws LocalError `no-topics` if too little was issued; `bad-topic` for a topic that breaks the rules of MQTT (5.0,
 *   section 4.7) or contains white space; `topic-out-of-scope`; `identity-field` for a required field of the wrong
 *   type; `lone-surrogate` for an access key that UTF-8 cannot encode; `bad-argument`
 * @see spec, "Client identity"
 *
 * @example
 * import { deriveTopics } from 'hub-protocol';
 *
 * const mqtt = { endpoint: 'mqtts://broker.example', username: 'u', password: 'p', topic_prefix: 'hm/t1/kiosk-7' };
 * const topics = deriveTopics(mqtt, { accessKey: 'kiosk-7' });
 * console.log(topics.publish, topics.subscribe, topics.status); // hm/t1/kiosk-7/in hm/t1/kiosk-7/out hm/t1/kiosk-7/status
 */
export function deriveTopics(mqtt: object, options: { accessKey?: string | undefined } = {}): Topics {
  return readArgument('mqtt', () => {
    const { accessKey } = readOptions(options, 'options', { accessKey: true });
    if (accessKey !== undefined) assertString(accessKey, 'accessKey');
    const fields = mqttFields(mqtt);
    const issued = readMqtt(fields);
    fields.assertReadable([MQTT.username, MQTT.topicPrefix, MQTT.hubId, MQTT.c2sTopic, MQTT.s2cTopic]);
    fields.assertReadable([MQTT.statusTopic, MQTT.hashTopics]);
    if (accessKey === undefined) fields.assertReadable([MQTT.accessKey]);
    return topicsOf(issued, accessKey ?? issued.accessKey);
  });
}

function topicsOf(issued: IssuedMqtt, accessKey: string | undefined): Topics {
  const { c2sTopic, s2cTopic, statusTopic } = issued;
  const scope = scopeOf(issued, accessKey);
  const publish = inScope(c2sTopic ?? scope.topics?.publish, scope);
  const subscribe = inScope(s2cTopic ?? scope.topics?.subscribe, scope);
  const status = inScope(statusTopic ?? scope.topics?.status ?? siblingStatus(c2sTopic), scope);
  if (publish === undefined || subscribe === undefined || status === undefined) {
    throw errors.noTopics();
  }
  return { publish, subscribe, status };
}

function scopeOf(issued: IssuedMqtt, accessKey: string | undefined): Scope {
  const { username, topicPrefix, hubId, hashTopics } = issued;
  const key = accessKey || username;
  const hash = key ? bytesToHex(sha256(utf8ToBytes(key))).slice(0, 16) : '';
  const ids: string[] = [];
  if (key) ids.push(key, hash);
  if (username) ids.push(username);

  const prefix = trimmedLevels(topicPrefix, 'topic_prefix');
  const hub = trimmedLevels(hubId, 'hub_id');
  if (prefix !== undefined) {
    const isOwn = ids.indexOf(prefix.slice(prefix.lastIndexOf('/') + 1)) >= 0;
    if (hub === undefined || isOwn) {
      const topics = { publish: `${prefix}/in`, subscribe: `${prefix}/out`, status: `${prefix}/status` };
      // If nothing else names the client, only the prefix can be checked.
      const isNamed = isOwn || ids.length === 0;
      return { start: `${prefix}/`, ids: isNamed ? undefined : ids, isPrefixed: true, topics };
    }
  }
  if (hub === undefined) return { start: '', ids, isPrefixed: false, topics: undefined };

  const parent = prefix ?? 'hivemind';
  const base = parent.split('/').indexOf(hub) >= 0 ? parent : `${parent}/${hub}`;
  const last = hashTopics ? hash : key;
  const topics = last
    ? { publish: `${base}/c2s/${last}`, subscribe: `${base}/s2c/${last}`, status: `${base}/status/${last}` }
    : undefined;
  return { start: `${base}/`, ids, isPrefixed: false, topics };
}

/** Levels as issued, without the white space and slashes around them. */
function trimmedLevels(issued: string | undefined, name: string): string | undefined {
  if (issued === undefined) return undefined;
  const trimmed = trimSlashes(issued.trim());
  if (!isTopic(trimmed)) throw errors.badTopicField(name);
  return trimmed;
}

function isTopic(topic: string): boolean {
  const length = utf8Length(topic);
  return (
    length >= 0 && // no lone surrogate
    length <= MAX_TOPIC &&
    topic.charAt(0) !== '$' &&
    topic.indexOf('#') < 0 &&
    topic.indexOf('+') < 0 &&
    `/${topic}/`.indexOf('//') < 0 && // no empty level
    !hasBlanks(topic)
  );
}

/** The status topic for a publish topic; `undefined` if no level of the publish topic names the direction. */
function siblingStatus(publish: string | undefined): string | undefined {
  if (publish === undefined) return undefined;
  const levels = publish.split('/');
  let at = levels.indexOf('c2s');
  if (at < 0 && levels[levels.length - 1] === 'in') at = levels.length - 1;
  if (at < 0) return undefined;
  levels[at] = 'status';
  return levels.join('/');
}

/**
 * Checks an issued or derived topic, and returns it.
 * @throws LocalError `bad-topic`, `topic-out-of-scope`
 */
function inScope(topic: string | undefined, { start, ids, isPrefixed }: Scope): string | undefined {
  if (topic === undefined) return undefined;
  if (!isTopic(topic)) throw errors.badTopic('a topic of the identity’s mqtt');
  const levels = topic.slice(start.length).split('/');
  const isInside =
    ids === undefined ||
    (isPrefixed && levels.length === 1) ||
    levels.some((level) => ids.indexOf(level) >= 0);
  if (topic.indexOf(start) !== 0 || !isInside) {
    throw errors.topicOutOfScope();
  }
  return topic;
}
