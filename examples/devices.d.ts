/** Declares the modules of the hosts of the device examples. None of it is checked. */

// Moddable
declare module 'crypt';
declare module 'preference';
declare module 'Resource';
declare module 'rng';
declare module 'time';
declare module 'timer';
declare module 'WebSocket';
interface StringConstructor {
  fromArrayBuffer(buffer: ArrayBuffer): string;
}
// biome-ignore-start lint/suspicious/noExplicitAny: the types are the hosts' own
declare const device: any;
declare function trace(...messages: any[]): void;

// Espruino; in Moddable's example, `hub-crypto` is a module next to it
declare module 'hub-crypto';
declare module 'Storage';
declare const E: any;
declare const Serial1: any;
declare module 'crypto';
declare const console: any;

// The host of QuickJS
declare const host: any;
// biome-ignore-end lint/suspicious/noExplicitAny: as above
