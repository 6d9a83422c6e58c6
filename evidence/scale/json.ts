/** Reading JSON and writing its canonical form, beside the engine's JSON and `canonicalize`. */
import { canonicalJson, parseJson } from '../../dist/index.js';
import { calls } from './paired.ts';
import { canonicalize } from './peers/index.js';
import { type Benchmark, compare } from './rows.ts';

const HELLO = {
  msg_type: 'hello',
  payload: {
    handshake: true,
    max_protocol_version: 3,
    min_protocol_version: 3,
    node_id: 'hub-1',
    peer: 'lobby::7d0b4c2e-94b1-4d59-8f0e-0c6a4b1f7f11',
    pubkey: 'f8e2b7c0d61f4ac2a04d6b6d2a1c9e0377f35be7a6c2b40d2f9e1c6a5b4d3e2f',
    session: { active_skills: [], lang: 'fr-FR', session_id: '7d0b4c2e', site_id: 'lobby' },
    encodings: ['JSON-B64', 'JSON-HEX'],
  },
};

/** What a hub would report of a house: names, numbers, states, text beyond ASCII. */
const device = (id: number): object => ({
  id,
  name: `Lampe n° ${id} — entrée`,
  type: 'light',
  state: { on: id % 2 === 0, level: id % 100, colour: { h: id % 360, s: 80 } },
  tags: ['kitchen', 'ground floor', `group-${id % 7}`],
  note: 'says "good morning"\nand waits',
});
const house = (count: number): object => ({ devices: Array.from({ length: count }, (_, id) => device(id)) });
const samples = (count: number): object => ({
  samples: Array.from({ length: count }, (_, i) => [1763776800 + i, Math.sin(i) * 100, i / 8, -1e-7 * i]),
});

const DOCUMENTS: { readonly [name: string]: object } = {
  HELLO,
  '13.5 KB': house(76),
  '100 KB': house(560),
  '100 KB of floats': samples(2000),
};

export const json: Benchmark[] = Object.entries(DOCUMENTS).map(([name, value]) => ({
  name: `JSON, ${name}`,
  seconds: 6,
  async run() {
    const text = JSON.stringify(value);
    const bytes = new TextEncoder().encode(text);
    const [ours, engines] = [parseJson(bytes), JSON.parse(text)];
    const parse = { name: 'JSON.parse', time: calls(() => JSON.parse(text)) };
    const peer = { name: 'canonicalize', time: calls(() => canonicalize(engines)) };
    const both = {
      name: 'JSON.parse, canonicalize',
      time: calls(() => canonicalize(JSON.parse(text))),
    };
    return [
      ...(await compare(
        `parseJson, ${name}`,
        calls(() => parseJson(text)),
        [parse],
        2,
      )),
      ...(await compare(
        `canonicalJson, ${name}`,
        calls(() => canonicalJson(ours)),
        [peer],
        2,
      )),
      ...(await compare(
        `parse, canonicalize: ${name}`,
        calls(() => canonicalJson(parseJson(text))),
        [both],
        2,
      )),
    ];
  },
}));
