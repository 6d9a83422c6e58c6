/**
 * Writes the simulation into docs/reference/policy.md and docs/reference/restart.svg.
 *
 *     npm run search -- simulate
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { table, withParts } from '../../../tools/draw.ts';
import { restartChart } from './chart.ts';
import { cellOf, hoursWithPolicy, hourWithRetry } from './hour.ts';
import { TROUBLES } from './hubs.ts';

const DOCS = new URL('../../../docs/reference/', import.meta.url);
console.log('This simulates some 60 hours and takes about four minutes.');

const rows: string[][] = [];
for (const trouble of TROUBLES) {
  for (const transport of ['WebSocket', 'MQTT'] as const) {
    if (transport === 'MQTT' && !trouble.isForMqtt) continue;
    const row = [
      trouble.name,
      transport,
      cellOf([hourWithRetry(trouble, transport)]),
      cellOf(hoursWithPolicy(trouble, transport)),
    ];
    console.log(row.join(' | '));
    rows.push(row);
  }
}
const page = new URL('policy.md', DOCS);
const simulation = table(['the hub', 'over', 'obeys `retry`', '`ConnectionPolicy`'], rows);
writeFileSync(page, withParts(readFileSync(page, 'utf8'), { simulation }));
writeFileSync(new URL('restart.svg', DOCS), restartChart());
