/**
 * `ws`, by `require`: that takes a third of the time of an import, for which Node.js first looks for the names of the exports in each of its
 * files. The names are not looked for here: `export = require('ws')` would do that, too.
 */
// @ts-expect-error -- CommonJS has no other form that has types
import ws = require('ws');
// @ts-expect-error -- as above
export = ws;
