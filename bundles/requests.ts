/**
 * `dist/hub-protocol.requests.js`: requests, replies and the AI disclosure. Load it together with any of the other files. It
 * shares no classes with them, so pass messages between them as strings.
 */

export { LocalError } from '../src/errors.ts';
export { disclosureDue } from '../src/identity/disclosure.ts';
export { buildAction, buildCode, buildUtterance } from '../src/requests/build-request.ts';
export { readHubEvent } from '../src/requests/hub-event.ts';
export { readRefusal } from '../src/requests/refusal.ts';
export { ReplyCollector } from '../src/requests/reply-collector.ts';
export { RequestScheduler } from '../src/requests/request-scheduler.ts';
export { sessionIdsMatch } from '../src/requests/session-ids.ts';
