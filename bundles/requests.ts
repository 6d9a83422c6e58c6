/**
 * `dist/hub-protocol.requests.js`: requests, replies and the AI disclosure. Load it together with any of the other files. It
 * shares no classes with them, so pass messages between them as strings.
 */

export { type ErrorCode, LocalError } from '../src/errors.ts';
export { type Disclosure, type DisclosureSituation, disclosureDue } from '../src/identity/disclosure.ts';
export type { Identity } from '../src/identity/identity.ts';
export {
  type ActionRequest,
  buildAction,
  buildCode,
  buildUtterance,
  type CodeRequest,
  type UtteranceRequest,
} from '../src/requests/build-request.ts';
export type { HubEvent } from '../src/requests/hub-event.ts';
export { readHubEvent } from '../src/requests/hub-event.ts';
export { type Refusal, readRefusal } from '../src/requests/refusal.ts';
export type { CollectorOptions, Reply } from '../src/requests/reply-collector.ts';
export { ReplyCollector } from '../src/requests/reply-collector.ts';
export type { FinishDecision, RequestDecision, SchedulerOptions } from '../src/requests/request-scheduler.ts';
export { RequestScheduler } from '../src/requests/request-scheduler.ts';
export { sessionIdsMatch } from '../src/requests/session-ids.ts';
export { readSpeech, type Speech } from '../src/requests/speakable.ts';
export type { Json, JsonObject } from '../src/wire/json.ts';
