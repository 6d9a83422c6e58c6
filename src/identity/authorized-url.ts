/** Adds the authorization that a hub expects to the query of its WebSocket URL. */

import { assertFlag, assertString, readOptions } from '../arguments.ts';
import { bytesToBase64, utf8ToBytes } from '../bytes.ts';
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

/** The name of a query field. Percent-encoded ASCII characters are decoded. */
function nameOf(field: string): string {
  const name = field.split('=')[0]!;
  return name.replace(/%([0-7][0-9a-f])/gi, (_, digits) => String.fromCharCode(Number(`0x${digits}`)));
}
