/** The requests of one connection: a RequestScheduler with a timer, and a promise for each request. */
import { buildUtterance, RequestScheduler } from 'hub-protocol';

/**
 * @param {string} sessionId - from the `ready` event
 * @param {(envelope: object) => void} send - sends an envelope with `sendJson`
 * @param {(event: object) => void} handle - is called with what the hub says unasked
 */
export function createRequests(sessionId, send, handle) {
  const scheduler = new RequestScheduler({ sessionId });
  const waiting = new Map(); // by request id
  let timer;

  function carryOut(decisions) {
    for (const decision of decisions) {
      if (decision.do === 'send') send(decision.envelope);
      else if (decision.do === 'handle') handle(decision.event);
      else {
        waiting.get(decision.requestId)(decision);
        waiting.delete(decision.requestId);
      }
    }
    clearTimeout(timer);
    const wait = scheduler.nextDeadline(performance.now());
    if (wait === undefined) return;
    timer = setTimeout(() => carryOut(scheduler.expire(performance.now())), wait);
  }

  return {
    ask: (text) =>
      new Promise((resolve) => {
        const requestId = crypto.randomUUID();
        waiting.set(requestId, resolve);
        carryOut(scheduler.request(buildUtterance({ requestId, text }), performance.now()));
      }),
    receive: (text) => carryOut(scheduler.receive(text, performance.now())),
    closed: () => carryOut(scheduler.closed()),
  };
}
