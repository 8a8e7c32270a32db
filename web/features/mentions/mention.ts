/** Mentions of files: the path that is typed after an `@`. */
import type { FileHit } from '@service-code/client';
import type { Insertion, TypedPart } from '../../state/typed-part.ts';

/** The mention whose end is at the caret. */
export function mentionAt(text: string, caret: number): TypedPart | undefined {
  const found = /(?:^|[\s("'`])@([^\s@]*)$/.exec(text.slice(0, caret));
  const query = found?.[1];
  return query === undefined ? undefined : { start: caret - query.length - 1, end: caret, query };
}

/** Typing can continue after a directory. */
export const mentionOf = ({ path, kind }: Pick<FileHit, 'path' | 'kind'>): Insertion =>
  kind === 'directory' ? { text: `@${path}/`, isOpen: true } : { text: `@${path}` };
