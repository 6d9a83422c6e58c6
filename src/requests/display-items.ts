/**
 * The items that an event shows in addition to its text: choices, tables, images and attachments. Hubs send them in
 * `rich_media_data`, `rich_media` or `display` of the event's data, or in the data itself, as JSON or as a string that
 * contains JSON.
 */
import { MAX_REPLY_PARTS } from '../limits.ts';
import { isJsonObject, type Json, type JsonObject, ownField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { stringIn } from './hub-event.ts';

/** One of the answers that a person may choose. */
export interface Choice {
  /** The label to show. */
  readonly title: string;
  /** The command to send if the person chooses it: pass it to `buildAction`. */
  readonly payload: string;
  /** The choice as received. */
  readonly data: Json;
}

/**
 * An item to show, by `kind`. `data` is the item as received. An image or attachment has a `title` if the hub sent one.
 */
export type DisplayItem =
  | {
      readonly kind: 'choices';
      /** The answers that a person may choose. */
      readonly choices: Choice[];
    }
  | {
      readonly kind: 'table';
      /** The table as received: an array or an object. */
      readonly data: Json;
    }
  | {
      readonly kind: 'image';
      /** The URL of the image, as written by the hub. */
      readonly url: string;
      /** The title, if the hub sent one. */
      readonly title?: string;
      /** The item as received. */
      readonly data: Json;
    }
  | {
      readonly kind: 'attachment';
      /** The URL of the attachment, as written by the hub, if it sent one. */
      readonly url?: string;
      /** The title, if the hub sent one. */
      readonly title?: string;
      /** The item as received. */
      readonly data: Json;
    };

/**
 * Reads the display items in an event's data, in the order table, attachments, choices, images. Unknown kinds are
 * ignored, and so are all entries of a list after the first MAX_REPLY_PARTS + 1: a reply cannot keep them.
 */
export function readDisplayItems(data: JsonObject): DisplayItem[] {
  const media = mediaIn(data);
  const items: DisplayItem[] = [];
  const table = valueIn(media, ['table']);
  if (Array.isArray(table) || isJsonObject(table)) items.push({ kind: 'table', data: table });
  const attachments = listIn(media, ['attachments', 'attachment']);
  for (let i = 0; i < attachments.length; i++) {
    const attachment = attachments[i];
    if (isJsonObject(attachment)) items.push(attachmentOf(attachment));
  }
  const choices = choicesOf(listIn(media, ['quick_replies', 'buttons']));
  if (choices.length > 0) items.push({ kind: 'choices', choices });
  const images = listIn(media, ['image', 'images']);
  for (let i = 0; i < images.length; i++) {
    const image = images[i]!;
    const url = isJsonObject(image) ? stringIn(image, ['src', 'url']) : stringIn({ image }, ['image']);
    if (url !== undefined) items.push(mediaItem('image', url, image));
  }
  return items;
}

/**
 * The size of an item in memory: 1 for each value, and the lengths of keys and scalars as strings, in UTF-16 units.
 * Counting stops once the size exceeds `limit`.
 */
export function sizeOf(item: DisplayItem, limit: number): number {
  const values: Json[] = [item as unknown as JsonObject];
  let size = 1;
  while (values.length > 0 && size <= limit) {
    const value = values.pop()!;
    if (Array.isArray(value)) {
      size += value.length;
      for (let i = 0; i < value.length && size <= limit; i++) values.push(value[i]!);
    } else if (isJsonObject(value)) {
      const keys = Object.keys(value);
      for (let i = 0; i < keys.length; i++) {
        size += 1 + keys[i]!.length;
        values.push(value[keys[i]!]!);
      }
    } else {
      size += String(value).length;
    }
  }
  return size;
}

function mediaIn(data: JsonObject): JsonObject {
  const names = ['rich_media_data', 'rich_media', 'display'];
  for (let i = 0; i < names.length; i++) {
    const media = valueIn(data, [names[i]!]);
    if (isJsonObject(media) && Object.keys(media).length > 0) return media;
  }
  return data;
}

/** The first of these fields that is present, parsed if it is a string that contains JSON. Null counts as absent. */
function valueIn(object: JsonObject, names: string[]): Json | undefined {
  for (let i = 0; i < names.length; i++) {
    const value = ownField(object, names[i]!) ?? null;
    const parsed = typeof value === 'string' ? parsedOr(value) : value;
    if (parsed !== null) return parsed;
  }
  return undefined;
}

/**
 * The beginning of JSON. A failed parse costs more than this test, and most strings are addresses or words. `\x5b` is
 * `[`.
 */
const JSON_START = /^\s*[\x5b{"0-9tfn-]/;

/** The JSON in a string, or the string itself if it is not JSON. */
function parsedOr(string: string): Json {
  if (!JSON_START.test(string)) return string;
  try {
    return parseJson(string);
  } catch {
    return string;
  }
}

/** The value of the first of these fields that is present, as a list. A single value counts as a list of one. */
function listIn(object: JsonObject, names: string[]): Json[] {
  const value = valueIn(object, names);
  if (value === undefined) return [];
  return Array.isArray(value) ? value.slice(0, MAX_REPLY_PARTS + 1) : [value];
}

function attachmentOf(attachment: JsonObject): DisplayItem {
  const payload = valueIn(attachment, ['payload']);
  const inPayload = isJsonObject(payload) ? stringIn(payload, ['src', 'url']) : undefined;
  const url = inPayload ?? stringIn(attachment, ['src', 'url']);
  const isImage = url !== undefined && ownField(attachment, 'type') === 'image';
  return mediaItem(isImage ? 'image' : 'attachment', url, attachment);
}

function mediaItem(kind: 'image' | 'attachment', url: string | undefined, data: Json): DisplayItem {
  const item: { kind: string; url?: string; title?: string; data: Json } = { kind, data };
  const title = isJsonObject(data) ? stringIn(data, ['title']) : undefined;
  if (url !== undefined) item.url = url;
  if (title !== undefined) item.title = title;
  return item as DisplayItem;
}

/** The choices in a list. A choice has a title or a payload; if one is missing, the other is used for it. */
function choicesOf(list: Json[]): Choice[] {
  const choices: Choice[] = [];
  for (let i = 0; i < list.length; i++) {
    const data = list[i]!;
    const fields = isJsonObject(data) ? data : { title: data };
    const title = stringIn(fields, ['title', 'label', 'text']);
    const payload = stringIn(fields, ['payload', 'value']) ?? title;
    if (payload !== undefined) choices.push({ title: title ?? payload, payload, data });
  }
  return choices;
}
