/** Further breakages of the rules about what a program has at hand: identities, MQTT, requests and replies. */
import { type Breakage, broken, same } from './breakage.ts';

const TOPICS = 'src/mqtt-topics/topics.ts';
const BROKER = 'src/mqtt-topics/broker-endpoint.ts';
const READ_IDENTITY = 'src/identity/read-identity.ts';
const ENDPOINT = 'src/identity/endpoint.ts';
const REDACT = 'src/identity/redact.ts';
const DISCLOSURE = 'src/identity/disclosure.ts';
const COLLECTOR = 'src/requests/reply-collector.ts';
const SCHEDULER = 'src/requests/request-scheduler.ts';
const HUB_EVENT = 'src/requests/hub-event.ts';
const REFUSAL = 'src/requests/refusal.ts';
const BUILD = 'src/requests/build-request.ts';
const ITEMS = 'src/requests/display-items.ts';

export const FURTHER_PROGRAM_RULES: { readonly [rule: string]: readonly Breakage[] } = {
  // Connecting

  // Identity
  'P-124': [
    broken('an access key may be empty', [
      READ_IDENTITY,
      'if (!accessKey) throw',
      'if (accessKey === undefined) throw',
    ]),
  ],
  'P-127': [
    broken('a requested protocol is replaced', [
      ENDPOINT,
      'requested === undefined ? supported.indexOf(protocol) < 0 : requested !== protocol',
      'supported.indexOf(protocol) < 0',
    ]),
    broken('what is switched off is used', [
      ENDPOINT,
      'read.protocols[protocol] ? endpointFor',
      'read ? endpointFor',
    ]),
  ],
  'P-130': [
    broken('data_plane_endpoints.mqtt counts first', [
      READ_IDENTITY,
      'address(mqtt.value(MQTT.endpoint)) ?? address(endpoints.value(DATA_PLANE_ENDPOINTS.mqtt))',
      'address(endpoints.value(DATA_PLANE_ENDPOINTS.mqtt)) ?? address(mqtt.value(MQTT.endpoint))',
    ]),
    broken('data_plane_endpoints.mqtt is not read', [
      READ_IDENTITY,
      ' ?? address(endpoints.value(DATA_PLANE_ENDPOINTS.mqtt));',
      ';',
    ]),
  ],
  'P-131': [
    broken('the access key is shown', [
      REDACT,
      'let secrets = [accessKey, password,',
      'let secrets = [password,',
    ]),
    broken('topics are shown', [REDACT, 'topicPrefix, c2sTopic, s2cTopic, statusTopic]);', ']);']),
    broken('base64 is shown', [
      REDACT,
      'needles.push(searchable(bytes), folded(base64),',
      'needles.push(searchable(bytes),',
    ]),
    broken('what is percent-encoded is shown', [REDACT, "if (text.indexOf('%') >= 0)", "if (text === '')"]),
    broken('hex is shown', [REDACT, ', bytesToHex(bytes));', ');']),
  ],
  'P-133': [
    broken('a string is read as an object', [
      READ_IDENTITY,
      'if (!isObject(value)) return fields.string(IDENTITY.aiDisclosure);',
      'if (!isObject(value)) return undefined;',
    ]),
  ],
  'P-134': [
    broken('Frisian is French', [DISCLOSURE, '/^fr([^a-z0-9]|$)/i', '/^fr/i']),
    broken('case counts in a tag', [DISCLOSURE, '/^fr([^a-z0-9]|$)/i', '/^fr([^a-z0-9]|$)/']),
    broken('English takes the place of French', [
      DISCLOSURE,
      "language === 'en' ? texts : undefined",
      'texts',
    ]),
    broken('a voice client says it once', [
      DISCLOSURE,
      "'earlier-session' && !isVoice && !isShared",
      "'earlier-session' && !isShared",
    ]),
    broken('it is said twice in a session', [DISCLOSURE, "lastGiven === 'this-session' || (", '(']),
    broken('an empty text is shown', [
      DISCLOSURE,
      "typeof text === 'string' && text !== ''",
      "typeof text === 'string'",
    ]),
  ],

  // MQTT
  'P-136': [
    broken('slashes stay', [TOPICS, 'trimSlashes(issued.trim())', 'issued.trim()']),
    broken('white space stays', [TOPICS, 'trimSlashes(issued.trim())', 'trimSlashes(issued)']),
    broken('slashes are trimmed before white space', [
      TOPICS,
      'trimSlashes(issued.trim())',
      'trimSlashes(issued).trim()',
    ]),
    broken('a topic may start with $', [TOPICS, "topic.charAt(0) !== '$' &&", '']),
    broken('levels may be empty', [TOPICS, ".indexOf('//') < 0 && // no empty level", '.length > 0 &&']),
    broken('white space is accepted', [TOPICS, '!hasBlanks(topic)', "topic !== ''"]),
    broken('the status topic has no sibling', [TOPICS, '?? siblingStatus(c2sTopic)', '']),
    broken('the hub id comes twice', [
      TOPICS,
      "parent.split('/').indexOf(hub) >= 0 ? parent",
      "parent === '' ? parent",
    ]),
    broken('hash_topics is ignored', [TOPICS, 'const last = hashTopics ? hash : key;', 'const last = key;']),
    broken('the user name is the key', [
      TOPICS,
      'const key = accessKey || username;',
      'const key = username || accessKey;',
    ]),
  ],
  'P-137': [
    same('topics-of-another-client'),
    broken('one issued topic displaces the derived ones', [
      TOPICS,
      's2cTopic ?? scope.topics?.subscribe',
      's2cTopic ?? (c2sTopic ? undefined : scope.topics?.subscribe)',
    ]),
    broken('the scope is compared without its last slash', [
      TOPICS,
      'if (topic.indexOf(start) !== 0 ||',
      'if (topic.indexOf(start.slice(0, -1)) !== 0 ||',
    ]),
  ],
  'P-138': [
    broken('a topic may be longer', [
      'src/limits.ts',
      'MAX_TOPIC: number = 65535',
      'MAX_TOPIC: number = 65536',
    ]),
    broken('# is accepted', [TOPICS, "topic.indexOf('#') < 0 &&", '']),
  ],
  'P-139': [same('wrong-default-port'), broken('ssl is unknown', [BROKER, ' ssl: 8883,', ''])],
  'P-141': [
    broken('the will is not retained', [
      'src/mqtt-topics/presence.ts',
      'retain: true,\n    });',
      'retain: false as true,\n    });',
    ]),
    broken('the will is `online`', [
      'src/mqtt-topics/presence.ts',
      "{ will: message('offline'),",
      "{ will: message('online'),",
    ]),
  ],

  // Requests and replies
  'P-148': [
    broken('a code is trimmed', [
      BUILD,
      'const data: JsonObject = { utterances: [utterance],',
      'const data: JsonObject = { utterances: [utterance.trim()],',
    ]),
    broken('an action is natural language', [BUILD, 'context.input = input;', '']),
  ],
  'P-149': [
    broken('the session counts before the context', [
      HUB_EVENT,
      'stringIn(context, REQUEST_IDS) ?? stringIn(session, REQUEST_IDS)',
      'stringIn(session, REQUEST_IDS) ?? stringIn(context, REQUEST_IDS)',
    ]),
    broken('the data are not read', [HUB_EVENT, ' ?? stringIn(data, REQUEST_IDS),', ',']),
    broken('a blank id is one', [
      HUB_EVENT,
      "typeof string === 'string' && !isBlank(string)",
      "typeof string === 'string'",
    ]),
    broken('the request id is missing in the session', [BUILD, 'session.request_id = requestId;', '']),
    broken('a session id decides beside a request id', [
      COLLECTOR,
      'if (requestId !== undefined) return requestId === this.requestId || requestId === this.continues;',
      'if (requestId === this.requestId) return true;',
    ]),
  ],
  'P-150': [
    broken('what follows the last colon counts', [
      'src/requests/session-ids.ts',
      "returned.indexOf(':')",
      "returned.lastIndexOf(':')",
    ]),
  ],
  'P-151': [
    broken('speech keeps its markup', [
      COLLECTOR,
      'this.spoken.push(speech.speech)',
      'this.spoken.push(text)',
    ]),
    broken('images are left out', [
      ITEMS,
      "if (url !== undefined) items.push(mediaItem('image', url, image));",
      '',
    ]),
    broken('display items in a string are not read', [
      ITEMS,
      "typeof value === 'string' ? parsedOr(value) : value",
      'value',
    ]),
  ],
  'P-152': [
    broken('a query timeout is ignored', [COLLECTOR, "  'hive.query.timeout': 'query-timeout',\n", '']),
    broken('ovos.intent.unmatched is unknown', [COLLECTOR, "  'ovos.intent.unmatched': 'failure',\n", '']),
    broken('events count after the end', [COLLECTOR, "if (this.current === 'done') return 'done';", '']),
    broken('a refusal drops what was said', [
      COLLECTOR,
      'this.isDeniedByPolicy = refusal',
      'if (refusal !== null) this.said.length = 0;\n    this.isDeniedByPolicy = refusal',
    ]),
  ],
  'P-153': [
    broken('the denied type is not compared', [
      COLLECTOR,
      "ownField(data, 'denied_type')) === this.type",
      "ownField(data, 'denied_type')) !== null",
    ]),
    broken('the figures are read from the data', [
      REFUSAL,
      "const policy = objectIn(data, 'data');",
      'const policy = data;',
    ]),
    broken('a quota is read with any code', [
      REFUSAL,
      "code === 'intent_quota_exceeded' ? quotaIn(policy) : null",
      'quotaIn(policy)',
    ]),
  ],
  'P-154': [
    broken('a request waits for its whole time in each state', [
      SCHEDULER,
      "if (state === 'waiting') return",
      'if (true) return',
    ]),
    broken('a hub is never known to say that it is done', [
      SCHEDULER,
      'this.saysHandled = true;\n      }\n      const { part }',
      '}\n      const { part }',
    ]),
    broken('a hub that asks back does not go on under the earlier id', [
      COLLECTOR,
      'requestId === this.requestId || requestId === this.continues',
      'requestId === this.requestId',
    ]),
  ],
};
