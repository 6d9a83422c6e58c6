/**
 * `ws`, by `require`. For an import, Node.js first looks for the names of the exports in each of its files, which takes longer than the rest
 * in Node.js 20 and 22. It does the same for `export = require('ws')`, and therefore not for what stands here.
 */
// @ts-expect-error -- CommonJS has no other form that has types
import ws = require('ws');
// @ts-expect-error -- as above
export = ws;
