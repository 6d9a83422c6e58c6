/**
 * What an event brings to be shown beside its text: choices, tables, images and attachments. Hubs put them into the
 * data's `rich_media_data`, `rich_media` or `display`, or into the data itself, as JSON or as text that is JSON.
 */
import { isJsonObject, type Json, type JsonObject, ownField } from '../wire/json.ts';
import { readJson, textIn } from './hub-event.ts';

/** One of several answers that a person is offered. */
export interface Choice {
  readonly title: string;
  /** What to send when it is chosen: with `buildAction`. */
  readonly payload: string;
  /** As the hub sent it. */
  readonly data: Json;
}

export type DisplayItem =
  | { readonly kind: 'choices'; readonly choices: Choice[] }
  | { readonly kind: 'table'; readonly data: Json }
  | { readonly kind: 'image'; readonly url: string; readonly title?: string; readonly data: Json }
  | { readonly kind: 'attachment'; readonly url?: string; readonly title?: string; readonly data: Json };

/** The items of an event's data, in the order table, attachments, choices, images. Unknown kinds are ignored. */
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
    const url = isJsonObject(image) ? textIn(image, ['src', 'url']) : textIn({ image }, ['image']);
    if (url !== undefined) items.push(mediaItem('image', url, image));
  }
  return items;
}

function mediaIn(data: JsonObject): JsonObject {
  const names = ['rich_media_data', 'rich_media', 'display'];
  for (let i = 0; i < names.length; i++) {
    const media = valueIn(data, [names[i]!]);
    if (isJsonObject(media) && Object.keys(media).length > 0) return media;
  }
  return data;
}

/** The first of these fields that is there, parsed where it is JSON as a text; null counts as absent. */
function valueIn(object: JsonObject, names: string[]): Json | undefined {
  for (let i = 0; i < names.length; i++) {
    const value = ownField(object, names[i]!) ?? null;
    const parsed = typeof value === 'string' ? readJson(value) : value;
    if (parsed === undefined) return value; // a text that is no JSON
    if (parsed !== null) return parsed;
  }
  return undefined;
}

/** The same, where one may stand for a list of one. */
function listIn(object: JsonObject, names: string[]): Json[] {
  const value = valueIn(object, names);
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function attachmentOf(attachment: JsonObject): DisplayItem {
  const payload = valueIn(attachment, ['payload']);
  const inPayload = isJsonObject(payload) ? textIn(payload, ['src', 'url']) : undefined;
  const url = inPayload ?? textIn(attachment, ['src', 'url']);
  const isImage = url !== undefined && ownField(attachment, 'type') === 'image';
  return mediaItem(isImage ? 'image' : 'attachment', url, attachment);
}

function mediaItem(kind: 'image' | 'attachment', url: string | undefined, data: Json): DisplayItem {
  const item: { kind: string; url?: string; title?: string; data: Json } = { kind, data };
  const title = isJsonObject(data) ? textIn(data, ['title']) : undefined;
  if (url !== undefined) item.url = url;
  if (title !== undefined) item.title = title;
  return item as DisplayItem;
}

/** Of a choice, either title or payload may be missing. */
function choicesOf(list: Json[]): Choice[] {
  const choices: Choice[] = [];
  for (let i = 0; i < list.length; i++) {
    const data = list[i]!;
    const fields = isJsonObject(data) ? data : { title: data };
    const title = textIn(fields, ['title', 'label', 'text']);
    const payload = textIn(fields, ['payload', 'value']) ?? title;
    if (payload !== undefined) choices.push({ title: title ?? payload, payload, data });
  }
  return choices;
}
