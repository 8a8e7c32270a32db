/** The completion of a path that is being typed after an `@`. */

export interface Mention {
  /** Index of the `@`. */
  start: number;
  query: string;
}

/** The mention whose end is at the caret. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const found = /(?:^|[\s("'`])@([^\s@]*)$/.exec(text.slice(0, caret));
  const query = found?.[1];
  return query === undefined ? undefined : { start: caret - query.length - 1, query };
}

/** Replaces the typed text by the path; returns the new caret. Typing can continue after a directory. */
export function withMention(
  text: string,
  { start, query }: Mention,
  { path, kind }: { path: string; kind: string },
): { text: string; caret: number } {
  const rest = text.slice(start + 1 + query.length);
  const inserted = kind === 'directory' ? `@${path}/` : `@${path}${/^\s/.test(rest) ? '' : ' '}`;
  return { text: text.slice(0, start) + inserted + rest, caret: start + inserted.length };
}
