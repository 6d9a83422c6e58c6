/** The authorization in the query of a WebSocket's URL: a client adds it, and a hub reads it. */

import { assertFlag, assertString, readOptions } from '../arguments.ts';
import { base64ToBytes, bytesToBase64, bytesToUtf8, utf8ToBytes } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { type PlaintextOptions, splitUrl } from '../url.ts';

/**
 * Returns a URL with `authorization=` in its query: `<user agent>:<access key>` in UTF-8, base64 and percent-encoding.
 * The URL is then a secret like the access key: follow no redirect, and log neither the URL nor error messages of
 * libraries that show it.
 * @param url - wss:, or with `allowPlaintext` ws:, as from selectEndpoint(). Its query is kept, except for fields named
 *   `authorization`, even if their names are percent-encoded.
 * @param userAgent - the program's name, without a colon
 * @param accessKey - `identity.accessKey`
 * @param options - `allowPlaintext`: whether to accept a ws: URL (default false)
 * @returns the URL, which is a secret
 * @throws LocalError `bad-endpoint` for any other URL; `plaintext-endpoint` for ws:, unless it is allowed;
 *   `bad-argument`; `lone-surrogate` for a string that UTF-8 cannot encode
 *
 * @example
 * import { authorizedUrl } from 'hub-protocol';
 *
 * const url = authorizedUrl('wss://hub.example:5679', 'kiosk', 'access key');
 * console.log(new URL(url).searchParams.get('authorization') === btoa('kiosk:access key')); // true
 */
export function authorizedUrl(
  url: string,
  userAgent: string,
  accessKey: string,
  options: PlaintextOptions = {},
): string {
  assertString(url, 'url');
  assertString(userAgent, 'userAgent');
  assertString(accessKey, 'accessKey');
  const given = readOptions(options, 'options', { allowPlaintext: true });
  const allowPlaintext = assertFlag(given.allowPlaintext, 'allowPlaintext');
  if (userAgent.indexOf(':') >= 0) {
    throw errors.expected(
      'userAgent',
      'a string without a colon, because the hub reads it up to the first colon',
    );
  }
  const parts = splitUrl(url);
  if (parts === undefined || (parts.scheme !== 'wss' && parts.scheme !== 'ws') || parts.fragment !== '') {
    throw errors.badUrl();
  }
  if (parts.scheme === 'ws' && !allowPlaintext) throw errors.plaintextEndpoint('"url"');
  const { path, query } = parts;
  const base64 = bytesToBase64(utf8ToBytes(`${userAgent}:${accessKey}`));
  // Not every engine has encodeURIComponent.
  const authorization = base64.replace(/\+/g, '%2B').replace(/\//g, '%2F').replace(/=/g, '%3D');
  const fields = query
    .slice(1)
    .split('&')
    .filter((field) => field !== '' && nameOf(field) !== 'authorization');
  fields.push(`authorization=${authorization}`);
  const address = url.slice(0, url.length - query.length) + (path === '' ? '/' : '');
  return `${address}?${fields.join('&')}`;
}

/** What a client says of itself in the URL of its WebSocket. */
export interface Authorization {
  /** The name of the client's program, without a colon. */
  readonly userAgent: string;
  /** A secret. The client has not proved yet that it knows the password. */
  readonly accessKey: string;
}

/**
 * Reads the authorization that authorizedUrl() has added to a URL. For hubs: no URL that a stranger chooses makes it throw.
 * Some clients do not percent-encode the base64, so a `+` or a space is a `+` of the base64.
 * @param url - the target of the HTTP request, such as `/?authorization=…`, or a whole URL
 * @returns the first authorization of the query; `undefined` if there is none, or if it is not base64 of UTF-8 with a colon
 * @throws LocalError `bad-argument` if the URL is not a string
 *
 * @example
 * import { readAuthorization } from 'hub-protocol';
 *
 * const authorization = readAuthorization('/?authorization=a2lvc2s6YWNjZXNzIGtleQ%3D%3D');
 * console.log(authorization); // { userAgent: 'kiosk', accessKey: 'access key' }
 */
export function readAuthorization(url: string): Authorization | undefined {
  if (url !== '') assertString(url, 'url');
  const target = url.split('#')[0]!;
  const field = target
    .slice((target + '?').indexOf('?') + 1)
    .split('&')
    .filter((one) => nameOf(one) === 'authorization')[0];
  if (field === undefined) return undefined;
  const base64 = decoded(field.slice(field.indexOf('=') + 1)).replace(/ /g, '+');
  const bytes = base64ToBytes(base64);
  const text = bytes && bytesToUtf8(bytes);
  const colon = text === undefined ? -1 : text.indexOf(':');
  if (colon < 0) return undefined;
  return { userAgent: text!.slice(0, colon), accessKey: text!.slice(colon + 1) };
}

/** The name of a query field. */
function nameOf(field: string): string {
  return decoded(field.split('=')[0]!);
}

/** Decodes percent-encoded ASCII characters. */
function decoded(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, digits) => String.fromCharCode(Number(`0x${digits}`)));
}
