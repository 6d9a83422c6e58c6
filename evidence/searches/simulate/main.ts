/**
 * Writes the simulation into docs/reference/policy.md.
 *
 *     evidence/searches/simulate/run
 */
import { table } from '../../../tools/draw.ts';
import { writeMeasured } from '../../../tools/measured.ts';
import { cellOf, hoursWithPolicy, hourWithRetry } from './hour.ts';
import { TROUBLES } from './hubs.ts';

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
const simulation = table(['the hub', 'over', 'obeys `retry`', '`ConnectionPolicy`'], rows);
writeMeasured('docs/reference/policy.md', { simulation });
