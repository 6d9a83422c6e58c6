/**
 * The two slots of a device's storage. The power fails, or a write does, at every character of every write, twice in a row; a
 * slot is lost, damaged or old, also after a start, at which slots that differ are written again. A text that was stored is never lost, or its loss is an error. Stores with a mistake must fail.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nextSlots, readSlots } from '../../src/index.ts';
import { raisesAbout, raisesLocal } from '../world/raises.ts';

type Slots = readonly (string | undefined)[];
type Writes = readonly { readonly slot: number; readonly text: string }[];
interface Store {
  /** What a device writes when it starts. */
  start(slots: Slots): Writes;
  read(slots: Slots): string;
  next(slots: Slots, text: string): Writes;
}

const STORE: Store = {
  start: (slots) => (slots[0] === slots[1] ? [] : nextSlots(slots, readSlots(slots))),
  read: readSlots,
  next: nextSlots,
};
const TEXTS = ['[]', '["pin"]', 'ü', '7 7'];

/** What a slot may contain when a write fails: nothing, each beginning, and each beginning followed by blank or old cells. */
function partsOf(text: string, old: string | undefined): (string | undefined)[] {
  const parts = new Set([old, undefined]);
  for (let at = 0; at < text.length; at++) {
    const start = text.slice(0, at);
    for (const rest of ['', '\xff'.repeat(text.length - at), (old ?? '').slice(at)]) parts.add(start + rest);
  }
  return [...parts];
}

const withSlot = (slots: Slots, slot: number, text: string | undefined): Slots =>
  [0, 1].map((i) => (i === slot ? text : slots[i]));

/** The contents of both slots at every moment of writing them. The last one is when both are written. */
function momentsOf(slots: Slots, writes: Writes): Slots[] {
  const moments: Slots[] = [];
  let now = slots;
  for (const write of writes) {
    const before = now;
    moments.push(...partsOf(write.text, now[write.slot]).map((part) => withSlot(before, write.slot, part)));
    now = withSlot(now, write.slot, write.text);
    moments.push(now);
  }
  return moments;
}

/** Tries a store. @returns how many cases there are @throws at the first loss */
function search(store: Store): number {
  let cases = 0;
  const expect = (slots: Slots, texts: readonly string[], what: string): string => {
    cases++;
    const text = store.read(slots);
    if (!texts.includes(text)) throw new Error(`${what}: ${JSON.stringify(slots)} reads as ${text}`);
    return text;
  };
  let slots: Slots = [];
  for (const write of store.next(slots, TEXTS[0]!)) slots = withSlot(slots, write.slot, write.text);
  for (let i = 1; i < TEXTS.length; i++) {
    const [old, text, next] = [TEXTS[i - 1]!, TEXTS[i]!, TEXTS[(i + 1) % TEXTS.length]!];
    const moments = momentsOf(slots, store.next(slots, text));
    for (const moment of moments) {
      const found = expect(moment, [old, text], 'a write failed');
      for (const again of momentsOf(moment, store.next(moment, next)))
        expect(again, [found, next], 'a second write failed');
      for (const cut of [moment, ...momentsOf(moment, store.start(moment))]) {
        expect(cut, [found], 'a write failed when the device started');
        const started = momentsOf(cut, store.start(cut)).at(-1) ?? cut;
        for (const lost of [0, 1])
          expect(withSlot(started, lost, undefined), [found], 'a slot was lost after a start');
      }
    }
    const before = slots;
    slots = moments.at(-1)!;
    for (const lost of [0, 1]) {
      for (const part of partsOf(slots[lost]!, before[lost])) {
        const damaged = withSlot(slots, lost, part);
        expect(damaged, [text], 'a stored slot was damaged');
        for (const again of momentsOf(damaged, store.next(damaged, next))) {
          expect(again, [text, next], 'a write failed beside a damaged slot');
        }
      }
    }
  }
  return cases;
}

test('no failure of two writes in a row, and no damage of one slot, loses a text that was stored', () => {
  const cases = search(STORE);
  assert.is(cases, 120_160);
});

/** The slots after `store` has stored a text. */
const stored = (text: string, slots: Slots = []): Slots => momentsOf(slots, nextSlots(slots, text)).at(-1)!;

test('that neither slot is complete is an error, whatever is left of them', () => {
  const slots = stored('{"pins":[1]}');
  const parts = [...partsOf(slots[0]!, undefined), '0 ', ' ', '1', '\xff\xff', 'null'];
  for (const first of parts) {
    for (const second of parts) raisesLocal(() => readSlots([first, second]), 'slots-unreadable');
  }
  raisesLocal(() => readSlots([]), 'slots-unreadable');
});

test('slots that a storage returns as null are missing', () => {
  const [, second] = stored('text');
  assert.is(readSlots([null as unknown as undefined, second]), 'text');
  assert.equal(
    nextSlots([null as unknown as undefined, second], 'next').map(({ slot }) => slot),
    [0, 1],
  );
});

test('a changed character of a slot never goes unnoticed', () => {
  const [text] = stored('{"pins":[1]}') as [string];
  for (let at = 0; at < text.length; at++) {
    for (const other of ['\0', ' ', '0', '9', 'a', '\xff', '\uffff']) {
      if (text[at] === other) continue;
      raisesLocal(() => readSlots([text.slice(0, at) + other + text.slice(at + 1), '']), 'slots-unreadable');
    }
  }
});

test('a slot has its check and its count before the text', () => {
  assert.equal(nextSlots([], 'a'), [
    { slot: 1, text: '415240365 1 a' },
    { slot: 0, text: '415240365 1 a' },
  ]);
});

test('the count grows with each text, and the highest one counts', () => {
  let slots: Slots = [];
  for (let round = 0; round < 12; round++) slots = stored(`text ${round}`, slots);
  assert.match(slots[0]!, ' 12 text 11');
  assert.is(readSlots(slots), 'text 11');
});

test('nothing but a text with characters can be stored', () => {
  for (const text of ['', undefined, {}]) raisesLocal(() => nextSlots([], text as string), 'bad-argument');
  raisesAbout('text', () => nextSlots([], undefined as never));
});

test.run();
