/** The environment of programs whose coverage is not counted. Node.js passes the variable on if it is merely left out. */
export const UNCOUNTED: NodeJS.ProcessEnv = { ...process.env, NODE_V8_COVERAGE: undefined };
