/**
 * A hub refuses a message with the event `hive.policy.denied`, whose `data.data` carries the figures of the policy that
 * decided.
 */
import {
  isJsonObject,
  isSafeInteger,
  type Json,
  JsonNumber,
  type JsonObject,
  ownField,
} from '../wire/json.ts';
import { objectIn } from './hub-event.ts';
import { collapse } from './white-space.ts';

/** A used-up allowance. Figures are integers from 0 to 2^53 - 1, and 0 if the hub sent no such figure. */
export interface Quota {
  /** The period of the allowance, such as `daily` or `monthly`; empty if the hub names none. */
  readonly period: string;
  /** The size of the allowance in each period. */
  readonly limit: number;
  /** How much of it has been used in the current period. */
  readonly used: number;
  /** Seconds until the allowance is renewed (on the wire: `reset_after`). */
  readonly resetAfter: number;
}

/** Why a hub refused a message. Strings are empty if the hub sent none. */
export interface Refusal {
  /** The type of the refused message (on the wire: `denied_type`). */
  readonly deniedType: string;
  /**
   * The hub's code, such as `acl_disallowed_type` or `intent_quota_exceeded`. Two codes are not decisions of policy:
   * `backend_unavailable` (the hub's own bus is down) and `malformed_payload` (the hub could not read the message).
   */
  readonly code: string;
  /** The hub's explanation, a sentence. */
  readonly reason: string;
  /** The types that this client may send. */
  readonly allowed: string[];
  /** The allowance that is used up, with the code `intent_quota_exceeded`; null with any other. */
  readonly quota: Quota | null;
}

const DENIED = 'hive.policy.denied';

/** The codes that hubs send in the same event although no policy refused anything. */
const NOT_BY_POLICY = ['backend_unavailable', 'malformed_payload'];

/**
 * Reads a refusal. Never throws.
 * @param payload - the payload of an event, such as the `rawEvent` of a reply
 * @returns the refusal; null if the payload is not one
 *
 * @example
 * import { readRefusal } from 'hub-protocol';
 *
 * const data = { denied_type: 'speak', code: 'acl_disallowed_type', reason: 'not allowed' };
 * console.log(readRefusal({ type: 'hive.policy.denied', data })?.code); // acl_disallowed_type
 * console.log(readRefusal({ type: 'speak', data: {} })); // null
 */
export function readRefusal(payload: Json): Refusal | null {
  try {
    return isJsonObject(payload) && ownField(payload, 'type') === DENIED ? refusalIn(payload) : null;
  } catch {
    return null;
  }
}

/** Whether access policy decided (spec: `policy_denied`). An unknown code counts as a decision of policy. */
export function isByPolicy(refusal: Refusal): boolean {
  return NOT_BY_POLICY.indexOf(refusal.code) < 0;
}

function refusalIn(payload: JsonObject): Refusal {
  const data = objectIn(payload, 'data');
  const policy = objectIn(data, 'data');
  const code = stringAt(data, 'code');
  return {
    deniedType: stringAt(data, 'denied_type'),
    code,
    reason: stringAt(data, 'reason'),
    allowed: typesIn(ownField(policy, 'allowed')),
    quota: code === 'intent_quota_exceeded' ? quotaIn(policy) : null,
  };
}

function quotaIn(policy: JsonObject): Quota {
  return {
    period: stringAt(policy, 'period'),
    limit: figure(ownField(policy, 'limit')),
    used: figure(ownField(policy, 'used')),
    resetAfter: figure(ownField(policy, 'reset_after')),
  };
}

function stringAt(object: JsonObject, name: string): string {
  const value = ownField(object, name);
  return typeof value === 'string' ? value : '';
}

/** The strings of a list that are not blank: nothing else can be a message type. */
function typesIn(list: Json | undefined): string[] {
  const types: string[] = [];
  if (!Array.isArray(list)) return types;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const type = typeof item === 'string' ? collapse(item) : '';
    if (type !== '') types.push(type);
  }
  return types;
}

/** A count, as a number or in decimal digits; 0 for anything else. */
function figure(value: Json | undefined): number {
  const isDigits = typeof value === 'string' && /^\s*[0-9]+\s*$/.test(value);
  const number = isDigits || value instanceof JsonNumber ? Number(value) : value;
  return typeof number === 'number' && isSafeInteger(number) && number > 0 ? number : 0;
}
