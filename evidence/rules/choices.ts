/**
 * Ports that decide otherwise where a rule of docs/reference/protocol.md is a choice: a line each in choices.jsonl, with the rule,
 * what the port does, the operations that touch it, and its patches; or the rule, and why no operation shows what a port does. They
 * are patches of ports/python, but for identities and requests, which it lacks.
 */
import { readFileSync } from 'node:fs';
import { type Fault, fault, type Patch } from './fault.ts';

export interface Choice {
  readonly rule: string;
  /** Why no operation shows it. */
  readonly reason?: string;
  readonly fault?: Fault;
}

type Line = readonly [rule: string, what: string, operations?: string, ...patches: Patch[]];

export const CHOICES: readonly Choice[] = readFileSync(new URL('choices.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [rule, what, operations, ...patches] = JSON.parse(line) as Line;
    return operations === undefined
      ? { rule, reason: what }
      : { rule, fault: fault(what, operations, ...patches) };
  });
