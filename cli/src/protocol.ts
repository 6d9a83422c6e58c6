/** The library, including internals, as the judge exports it. */
export * from 'hub-protocol-judge/internals';
