/** What the events of a session mean for a link: changes of the keyring, ends, and what is told. */
import type { LocalError, RemoteError } from '../errors.ts';
import { type Keyring, updateKeyring } from '../keyring/keyring.ts';
import type { EndedEvent, SessionEvent } from '../session/events.ts';
import type { LinkEvent } from './orders.ts';

/** A change of a keyring. It returns the same keyring if there is nothing to change. */
export type Update = (keyring: Keyring) => Keyring;

/** The change that an event makes. */
export function updateBy(event: SessionEvent): Update {
  return (keyring) => updateKeyring(keyring, event);
}

/** The end of a connection that this side has failed, without what is undefined. It says nothing about the hub, so pin and PSK stay. */
export function endedBy(error: LocalError | RemoteError, isHopeless: boolean): EndedEvent {
  return { type: 'ended', reason: 'dropped', retry: isHopeless ? 'never' : 'later', error } as EndedEvent;
}

/** A copy of an event or a decision, as a link tells it. */
export function retyped<Event extends LinkEvent>(event: object, type: Event['type']): Event {
  const copy: { [name: string]: unknown } = merged(event, { type });
  delete copy.do;
  return copy as unknown as Event;
}

/** The fields of some objects together; the fields of a later object count. */
export function merged<A extends object, B extends object, C extends object>(a: A, b: B, c?: C): A & B & C {
  const fields: { [name: string]: unknown } = {};
  const parts: (object | undefined)[] = [a, b, c];
  for (let i = 0; i < parts.length; i++) {
    const part = (parts[i] ?? {}) as typeof fields;
    const names = Object.keys(part);
    for (let j = 0; j < names.length; j++) fields[names[j]!] = part[names[j]!];
  }
  return fields as A & B & C;
}
