/**
 * What a hub says when it refuses a message: `hive.policy.denied`, with the policy's own figures nested in the `data`
 * of its data.
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

/** An allowance that is used up. Figures are whole, from 0 to 2^53 - 1, and 0 where the hub sent no such figure. */
export interface Quota {
  /** Such as `daily` or `monthly`; empty where the hub did not say. */
  readonly period: string;
  readonly limit: number;
  readonly used: number;
  /** In seconds (on the wire: `reset_after`). */
  readonly resetAfter: number;
}

/** Texts are empty where the hub did not say. */
export interface Refusal {
  /** The type of the message that was refused (on the wire: `denied_type`). */
  readonly deniedType: string;
  /** Such as `acl_disallowed_type`, `intent_quota_exceeded`, or `backend_unavailable`: the hub's own bus is down. */
  readonly code: string;
  readonly reason: string;
  /** The types that this client may send. */
  readonly allowed: string[];
  /** Only with the code `intent_quota_exceeded`, and then always. */
  readonly quota: Quota | null;
}

const DENIED = 'hive.policy.denied';

/**
 * Reads a refusal.
 * @param payload - the payload of an event, such as a reply's `rawEvent`
 * @returns null where it is no refusal
 */
export function readRefusal(payload: Json): Refusal | null {
  if (!isJsonObject(payload) || ownField(payload, 'type') !== DENIED) return null;
  const data = objectIn(payload, 'data');
  const policy = objectIn(data, 'data');
  const code = textOf(data, 'code');
  return {
    deniedType: textOf(data, 'denied_type'),
    code,
    reason: textOf(data, 'reason'),
    allowed: textsOf(ownField(policy, 'allowed')),
    quota: code === 'intent_quota_exceeded' ? quotaOf(policy) : null,
  };
}

function quotaOf(policy: JsonObject): Quota {
  return {
    period: textOf(policy, 'period'),
    limit: count(ownField(policy, 'limit')),
    used: count(ownField(policy, 'used')),
    resetAfter: count(ownField(policy, 'reset_after')),
  };
}

function textOf(object: JsonObject, name: string): string {
  const value = ownField(object, name);
  return typeof value === 'string' ? value : '';
}

/** The texts of a list that are not blank; nothing else in it can be the name of a type. */
function textsOf(list: Json | undefined): string[] {
  const texts: string[] = [];
  if (!Array.isArray(list)) return texts;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const text = typeof item === 'string' ? collapse(item) : '';
    if (text !== '') texts.push(text);
  }
  return texts;
}

/** A number that counts something, or its digits; 0 for everything else. */
function count(value: Json | undefined): number {
  const isDigits = typeof value === 'string' && /^\s*[0-9]+\s*$/.test(value);
  const number = isDigits || value instanceof JsonNumber ? Number(value) : value;
  return typeof number === 'number' && isSafeInteger(number) && number > 0 ? number : 0;
}
