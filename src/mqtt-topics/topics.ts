/**
 * The three topics of a client: as they were issued, once they are seen to lie in the client's scope, or derived.
 *
 * Today's layout is `<prefix>/in`, `/out` and `/status`, where the prefix ends with the client's own level. Earlier
 * hubs have `<prefix>/<hub id>/c2s/<key>`, `/s2c/<key>` and `/status/<key>`. Spec, "Client library contract".
 */
import { assertString, bytesToHex, utf8Length, utf8ToBytes } from '../bytes.ts';
import { sha256 } from '../crypto/sha256.ts';
import { LocalError } from '../errors.ts';
import { hasBlanks, trimSlashes } from '../issued/url.ts';
import { MAX_TOPIC } from '../limits.ts';
import { type IssuedMqtt, readMqtt } from './mqtt.ts';

export interface Topics {
  /** From the client to the hub. */
  readonly publish: string;
  /** From the hub to the client. */
  readonly subscribe: string;
  /** `online` and `offline`, retained; the latter is the client's will. */
  readonly status: string;
}

/** Where the topics of a client lie. */
interface Scope {
  /** What each starts with: levels and a slash; or empty. */
  readonly start: string;
  /** One of these is a level after that; `undefined` where the start names the client already. */
  readonly ids: string[] | undefined;
  /** What they are called there; `undefined` where that cannot be told. */
  readonly topics: Topics | undefined;
}

/**
 * The topics a client uses.
 * @param mqtt - as issued, under any names, or `identity.mqtt`
 * @param options - `accessKey`, where `mqtt` does not hold it; without any, the user name at the broker stands for it
 * @throws LocalError `no-topics`; `bad-topic`, `topic-out-of-scope`; `identity-field`; `bad-argument`,
 *   `lone-surrogate` for the access key
 */
export function deriveTopics(mqtt: object, options: { accessKey?: string | undefined } = {}): Topics {
  const { accessKey } = options;
  if (accessKey !== undefined) assertString(accessKey, 'accessKey');
  const issued = readMqtt(mqtt, accessKey);
  const { c2sTopic, s2cTopic, statusTopic } = issued;
  const scope = scopeOf(issued);
  const publish = inScope(c2sTopic ?? scope.topics?.publish, scope);
  const subscribe = inScope(s2cTopic ?? scope.topics?.subscribe, scope);
  const status = inScope(statusTopic ?? scope.topics?.status ?? siblingStatus(c2sTopic), scope);
  if (publish === undefined || subscribe === undefined || status === undefined) {
    throw new LocalError(
      'no-topics',
      'the identity’s mqtt has no topics, and too little to derive them: issue it again with a topic_prefix',
    );
  }
  return { publish, subscribe, status };
}

function scopeOf({ accessKey, username, topicPrefix, hubId, hashTopics }: IssuedMqtt): Scope {
  const key = accessKey || username;
  const hash = key ? bytesToHex(sha256(utf8ToBytes(key))).slice(0, 16) : '';
  const ids: string[] = [];
  if (key) ids.push(key, hash);
  if (username) ids.push(username);

  const prefix = levels(topicPrefix, 'topic_prefix');
  const hub = levels(hubId, 'hub_id');
  if (prefix !== undefined) {
    const isOwn = ids.indexOf(prefix.slice(prefix.lastIndexOf('/') + 1)) >= 0;
    if (hub === undefined || isOwn) {
      const topics = { publish: `${prefix}/in`, subscribe: `${prefix}/out`, status: `${prefix}/status` };
      return { start: `${prefix}/`, ids: undefined, topics };
    }
  }
  if (hub === undefined) return { start: '', ids, topics: undefined };

  const parent = prefix ?? 'hivemind';
  const base = parent.split('/').indexOf(hub) >= 0 ? parent : `${parent}/${hub}`;
  const last = hashTopics ? hash : key;
  const topics = last
    ? { publish: `${base}/c2s/${last}`, subscribe: `${base}/s2c/${last}`, status: `${base}/status/${last}` }
    : undefined;
  return { start: `${base}/`, ids, topics };
}

/** Levels as they are issued, with white space or slashes around them. */
function levels(issued: string | undefined, name: string): string | undefined {
  if (issued === undefined) return undefined;
  const trimmed = trimSlashes(issued.trim());
  if (!isTopic(trimmed)) {
    throw new LocalError('bad-topic', `the identity’s field ${name} has what topics must not have in them`);
  }
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

/** The status topic beside one that the client publishes to, where the name of that shows its direction. */
function siblingStatus(publish: string | undefined): string | undefined {
  if (publish === undefined) return undefined;
  const names = publish.split('/');
  let at = names.indexOf('c2s');
  if (at < 0 && names[names.length - 1] === 'in') at = names.length - 1;
  if (at < 0) return undefined;
  names[at] = 'status';
  return names.join('/');
}

/** The same topic, if any, once it is seen to be one, and the client's own. */
function inScope(topic: string | undefined, { start, ids }: Scope): string | undefined {
  if (topic === undefined) return undefined;
  if (!isTopic(topic)) {
    throw new LocalError('bad-topic', 'a topic of the identity’s mqtt has what topics must not have in them');
  }
  const isOwn = (level: string) => ids === undefined || ids.indexOf(level) >= 0;
  if (topic.indexOf(start) !== 0 || !topic.slice(start.length).split('/').some(isOwn)) {
    throw new LocalError(
      'topic-out-of-scope',
      'a topic of the identity’s mqtt is not this client’s: issue the identity again, or name its access key',
    );
  }
  return topic;
}
