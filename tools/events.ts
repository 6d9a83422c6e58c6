/** Draws the events of sessions, and the orders of a link: what to do with each is the first sentence of its docstring. */
import { documentedNames } from './declared.ts';
import { code, table } from './draw.ts';

/**
 * The types of a union, such as `SessionEvent`, with those of the unions in it.
 * @param tag - the field that tells them apart
 */
function typesIn(union: string, tag: string): string[] {
  const { code: declaration } = DECLARED.get(union)!;
  if (declaration.includes(`${tag}: '`)) return [union];
  return [...declaration.replace(/^.*?=/s, '').matchAll(/\w+/g)].flatMap(([name]) => typesIn(name, tag));
}

const DECLARED = new Map(documentedNames().map((each) => [each.name, each]));

/** A row for each type of a union: the tag, and what to do. */
function rows(union: string, tag = 'type'): (readonly [type: string, todo: string])[] {
  return typesIn(union, tag).map((name) => {
    const { code: declaration, doc } = DECLARED.get(name)!;
    const [, type] = new RegExp(`${tag}: '([a-z-]+)'`).exec(declaration)!;
    const [, todo] = /^(.*?)\.(?: |$)/s.exec(doc!.text)!;
    return [type!, todo!.replace(/\s+/g, ' ')];
  });
}

function drawn(events: readonly (readonly [type: string, todo: string])[], what = 'Event'): string {
  return table(
    [what, 'What to do'],
    events.map(([type, todo]) => [code(type), todo]),
  );
}

export function clientEvents(): string {
  return drawn(rows('SessionEvent'));
}

/** Those of a hub that a client does not have, or that say something else there. */
export function hubEvents(): string {
  const ofClients = new Set(rows('SessionEvent').map((row) => row.join()));
  return drawn(rows('HubSessionEvent').filter((row) => !ofClients.has(row.join())));
}

export function linkOrders(): string {
  return drawn(rows('Order', 'do'), 'Order');
}
