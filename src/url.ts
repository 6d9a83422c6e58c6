/**
 * Splits URLs into their parts as they are written (RFC 3986, section 3), because the core runs on engines without a
 * URL class. Converts the scheme to lower case; decodes and normalizes nothing else. Also refuses addresses without
 * TLS.
 */
import { forEachPiece } from './bytes.ts';

/** The parts of a URL. */
export interface UrlParts {
  /** In lower case, without the colon. */
  readonly scheme: string;
  /** With its @, or empty. */
  readonly userinfo: string;
  /** An IPv6 address is in brackets. */
  readonly host: string;
  /** 1 to 65535; `undefined` if there is none. */
  readonly port: number | undefined;
  /** Starts with a slash, or is empty. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly query: string;
  /** With its #, or empty. */
  readonly fragment: string;
}

/**
 * ASCII characters that no host contains: all but letters, digits and -._~. Espruino ends the expression at an
 * unescaped slash.
 */
const DELIMITERS = /[!-,\x2f:-@\x5b-\x5e`{-}]/;

/** Splits a URL that has a host. Returns `undefined` for any other string. */
export function splitUrl(url: string): UrlParts | undefined {
  const colon = url.indexOf('://');
  // Some programs read a backslash as a slash, and so would connect to another host.
  if (colon < 0 || hasBlanks(url) || url.indexOf('\\') >= 0) return undefined;
  const scheme = url.slice(0, colon).toLowerCase();
  const rest = url.slice(colon + 3);
  const withoutFragment = upTo('#', rest);
  const withoutQuery = upTo('?', withoutFragment);
  const authority = upTo('/', withoutQuery);
  const userinfo = authority.slice(0, authority.lastIndexOf('@') + 1);
  const address = authority.slice(userinfo.length);
  const portColon = address.lastIndexOf(':');
  const hasPort = portColon > address.indexOf(']');
  const host = hasPort ? address.slice(0, portColon) : address;
  const port = hasPort ? portOf(address.slice(portColon + 1)) : undefined;
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme) || !isHost(host) || port === 0) return undefined;
  return {
    scheme,
    userinfo,
    host,
    port,
    path: withoutQuery.slice(authority.length),
    query: withoutFragment.slice(withoutQuery.length),
    fragment: rest.slice(withoutFragment.length),
  };
}

/** The string up to the first occurrence of a mark; the whole string if there is none. */
function upTo(mark: string, text: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(0, at);
}

function isHost(host: string): boolean {
  if (host.charAt(0) === '[') return /^\[[0-9a-f:.]+\]$/i.test(host) && host.indexOf(':') > 0;
  return host !== '' && !DELIMITERS.test(host);
}

/** The port; 0 if the string is not one. */
function portOf(digits: string): number {
  const port = /^[0-9]+$/.test(digits) ? Number(digits) : 0;
  return port <= 65535 ? port : 0;
}

/**
 * Whether a string contains white space or an ASCII control character. White space is everything that
 * String.prototype.trim removes, which includes U+FEFF, and U+0085.
 */
export function hasBlanks(text: string): boolean {
  let found = false;
  forEachPiece(text, (piece) => {
    for (let i = 0; i < piece.length; i++) {
      const unit = piece.charCodeAt(i);
      if (unit < 0x20 || unit === 0x7f || unit === 0x85 || piece.charAt(i).trim() === '') found = true;
    }
  });
  return found;
}

/** Removes the slashes at both ends of a path. */
export function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (path.charAt(start) === '/') start++;
  while (path.charAt(end - 1) === '/') end--;
  return path.slice(start, end);
}

/** The option of functions that refuse addresses without TLS. */
export interface PlaintextOptions {
  /**
   * Whether to accept an address without TLS (default false). Anyone on the network path can then read the credentials.
   */
  allowPlaintext?: boolean | undefined;
}
