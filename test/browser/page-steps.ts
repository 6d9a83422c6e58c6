/** What tests and pictures do at examples/page. */
import type { Tab } from './tab.ts';

/** A script that makes each pause of the policy a part of its limit: it replaces the three random bytes of the draw. */
export function pausesAt(part: number): string {
  return `{
    const draw = crypto.getRandomValues.bind(crypto);
    crypto.getRandomValues = (bytes) => (bytes.length === 3 ? bytes.fill(${Math.floor(part * 255)}) : draw(bytes));
  }`;
}

/** A script that keeps what a person sees for a moment: `seen.status`, `seen.progress` and `seen.countdown`. */
export const KEEP_SEEN = `
  const seen = { status: [], progress: [], countdown: [] };
  const keep = (id, note) =>
    new MutationObserver(note).observe(document.getElementById(id), { attributes: true, childList: true });
  addEventListener('DOMContentLoaded', () => {
    keep('status', ([{ target }]) => seen.status.push(target.textContent));
    keep('derivation', ([{ target }]) => seen.progress.push(target.value));
    keep('countdown', ([{ target }]) => seen.countdown.push(target.textContent));
  });`;

/** An expression that is true in a state of the page. */
export function isIn(state: string): string {
  return `document.getElementById('connection').dataset.state === '${state}'`;
}

/** Cuts pauses short until the page is in a state. */
export async function dialNow(tab: Tab, state: string): Promise<void> {
  const resume = `document.getElementById('resume')`;
  await tab.until(`${resume}.checkVisibility() ? ${resume}.click() : ${isIn(state)}`);
}
