/**
 * Two slots of a device's storage, for a text that changes. Flash is erased before it is written, and a write can fail or end at
 * any byte. Therefore a text is written to one slot and read back, and then to the other: at every moment one slot has the
 * text before the change or the text after it. Once both are written, either of them may be lost.
 *
 * A slot contains a check in decimal, a space, a count in decimal, a space, and the text:
 *
 *     3130434301 7 {"version":1,…}
 */
import { assertString } from '../arguments.ts';
import * as errors from '../errors-table.ts';

/** The largest prime below 2^32. */
const PRIME = 4294967291;

/**
 * Finds the newest text in two slots. Make a device with both slots written. Then it is an error if neither can be read, and
 * nothing that was stored is lost unnoticed.
 *
 * If the two slots differ when the device starts, store the text again at once, as `nextSlots` says: a loss of power between the
 * two writes has left it in one slot only, where further damage would lose it. If that fails, go on.
 * @param slots - what is stored in the two slots; `undefined` for one that is missing, or that cannot be read
 * @returns the text with the highest count, of those that are complete
 * @throws LocalError `slots-unreadable` if neither is complete
 *
 * @example
 * import { nextSlots, readSlots } from 'hub-protocol';
 *
 * const slots: string[] = [];
 * for (const { slot, text } of nextSlots(slots, 'pins')) slots[slot] = text;
 * slots[1] = slots[1]!.slice(0, -1); // a write that was cut
 * console.log(readSlots(slots)); // pins
 */
export function readSlots(slots: readonly (string | undefined)[]): string {
  const newest = slots[newestOf(slots)];
  if (countOf(newest) === 0) throw errors.slotsUnreadable();
  return afterSpace(afterSpace(newest!));
}

/**
 * Says what to write so that the slots contain another text. Read both slots before each call. Carry out the first write, read
 * the slot back and compare, and only then carry out the second, in the same way. If one of them fails, the text is not stored:
 * do nothing that depends on it, and call this again for the next attempt. The slot that is written first is never the one with
 * the newest text.
 * @param slots - what is stored in the two slots; `undefined` for one that is missing, or that cannot be read
 * @param text - the text to store
 * @returns two writes, in their order: the index of a slot, and what to write there
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { nextSlots, readSlots } from 'hub-protocol';
 *
 * const flash = new Map<number, string>(); // a stand-in for the storage
 * const both = () => [flash.get(0), flash.get(1)];
 * function store(changes: string): void {
 *   for (const { slot, text } of nextSlots(both(), changes)) {
 *     flash.set(slot, text);
 *     if (flash.get(slot) !== text) throw new Error('it was not stored');
 *   }
 * }
 * store('the first text');
 * store('the second text');
 * console.log(readSlots(both())); // the second text
 */
export function nextSlots(
  slots: readonly (string | undefined)[],
  text: string,
): readonly { readonly slot: number; readonly text: string }[] {
  assertString(text, 'text');
  const newest = newestOf(slots);
  const written = withCheck(`${countOf(slots[newest]) + 1} ${text}`);
  return [1 - newest, newest].map((slot) => ({ slot, text: written }));
}

/** The slot with the higher count. */
function newestOf(slots: readonly (string | undefined)[]): number {
  return countOf(slots[0]) < countOf(slots[1]) ? 1 : 0;
}

/** The count of a slot, from 1 on; 0 if the slot is missing or damaged. */
function countOf(stored: string | undefined): number {
  const body = afterSpace(String(stored));
  return withCheck(body) === stored ? Number(body.slice(0, body.indexOf(' '))) || 0 : 0;
}

function afterSpace(text: string): string {
  return text.slice(text.indexOf(' ') + 1);
}

/**
 * Adds the check, a polynomial in the characters modulo a prime: one other character always changes it, and other damage goes
 * unnoticed once in 2^32. It is computed for each character in one step, since some devices interpret this.
 */
function withCheck(body: string): string {
  let check = 0;
  for (let i = 0; i < body.length; i++) check = (65599 * check + body.charCodeAt(i) + 1) % PRIME;
  return `${check} ${body}`;
}
