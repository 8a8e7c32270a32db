/** Requests to the thread that checks foreign schemas; it answers with a problem, or without one. */

export type Draft = 'draft-07' | '2019-09' | '2020-12';

/** `drafts` are tried in order; `text` and `args` are JSON. */
export type SchemaRequest = { drafts: readonly Draft[] } & (
  { kind: 'load' } | { kind: 'compile'; text: string } | { kind: 'validate'; text: string; hash: string; args: string }
);
