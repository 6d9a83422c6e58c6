/**
 * What the commands and the tools of this repository share with the judge: the library's internals, the known mistakes, and the
 * vectors. The published judge does not export it.
 */
export { cHeader } from './c-header.ts';
export { CHECKS, OPERATIONS } from './checks/checks.ts';
export { didYouMean } from './closest.ts';
export { type MistakenPsk, mistakenPsks } from './mistakes/psk.ts';
export { printable, table, wrapped } from './printable.ts';
export { PROFILES } from './profile.ts';
export * from './protocol.ts';
export { MAX_FILE, readAtMost } from './read-file.ts';
export { jsonLines } from './run-vectors.ts';
export { openWith } from './symmetric-state.ts';
export { firstUnequalValue, firstWrongValue, follow, type Seen, type Stop } from './trace.ts';
export { readVectorFile, type Vector, type VectorFile, vectorFiles, vectorsId } from './vectors.ts';
