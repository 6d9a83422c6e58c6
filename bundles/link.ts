/**
 * `dist/hub-protocol.link.js`: `hub-protocol.js`, and ClientLink, which takes the place of a device's own loop. Load it instead of
 * `hub-protocol.js`. A device that asks questions passes it the scheduler of `hub-protocol.requests.js`.
 */

export { ClientLink } from '../src/link/client-link.ts';
export type { LinkClosing, LinkOptions, LinkState } from '../src/link/options.ts';
export type { LinkEvent, Order } from '../src/link/orders.ts';
export type { HubEvent } from '../src/requests/hub-event.ts';
export type { Reply } from '../src/requests/reply-collector.ts';
export type {
  FinishDecision,
  RequestDecision,
  SchedulerOptions,
} from '../src/requests/request-scheduler.ts';
export type { Speech } from '../src/requests/speakable.ts';
export * from './device.ts';
