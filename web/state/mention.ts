/** A path that is being typed behind an `@`. */

export interface Mention {
  /** Where the `@` stands. */
  start: number;
  query: string;
}

/** The mention that the caret stands at the end of. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const found = /(?:^|[\s("'`])@([^\s@]*)$/.exec(text.slice(0, caret));
  const query = found?.[1];
  return query === undefined ? undefined : { start: caret - query.length - 1, query };
}

/** The text with a path in place of what was typed, and where the caret goes. One may go on behind a directory. */
export function withMention(
  text: string,
  { start, query }: Mention,
  { path, kind }: { path: string; kind: string },
): { text: string; caret: number } {
  const rest = text.slice(start + 1 + query.length);
  const inserted = kind === 'directory' ? `@${path}/` : `@${path}${/^\s/.test(rest) ? '' : ' '}`;
  return { text: text.slice(0, start) + inserted + rest, caret: start + inserted.length };
}
