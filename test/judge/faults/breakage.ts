/** What breaks a rule of docs/reference/protocol.md in this library. */
import type { Patch } from '../../../evidence/rules/fault.ts';

export type Breakage =
  /** A fault of another list. */
  | { readonly fault: string }
  /** A fault of a list of live mode, which a scene has to show. */
  | { readonly live: string }
  | { readonly what: string; readonly patches: readonly Patch[] }
  /** Why the rule cannot be broken here. */
  | { readonly reason: string };

export function same(fault: string): Breakage {
  return { fault };
}

export function live(fault: string): Breakage {
  return { live: fault };
}

export function broken(what: string, ...patches: Patch[]): Breakage {
  return { what, patches };
}

export function none(reason: string): Breakage {
  return { reason };
}
