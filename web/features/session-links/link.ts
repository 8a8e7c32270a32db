/** Links to other sessions: the title that is typed after a `#`. */
import { go } from 'fuzzysort';
import type { Session } from '@service-code/client';
import { titleOf } from '../../messages/session-title.ts';
import type { Insertion, TypedPart } from '../../state/typed-part.ts';

const LIMIT = 8;
/** Below it, matches are letters from all over a title. */
const MIN_SCORE = 0.3;

/** The link whose end is at the caret; a heading of Markdown, which a blank follows, is none. */
export function sessionLinkAt(text: string, caret: number): TypedPart | undefined {
  const found = /(?:^|[\s("'`])#([^\s#]*)$/.exec(text.slice(0, caret));
  const query = found?.[1];
  return query === undefined ? undefined : { start: caret - query.length - 1, end: caret, query };
}

/** A Markdown link, whose text cannot end the link or format it. */
export function sessionLinkOf(session: Session): Insertion {
  const title = titleOf(session)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\[\]`*_<>]/g, String.raw`\$&`);
  return { text: `[${title}](#/s/${encodeURIComponent(session.id)})` };
}

/** The sessions whose title matches, the best match first; the newest for an empty query. */
export function matchingSessions(sessions: readonly Session[], query: string): Session[] {
  if (query === '') return sessions.slice(0, LIMIT);
  return go(query, sessions, { key: titleOf, limit: LIMIT, threshold: MIN_SCORE }).map(({ obj }) => obj);
}
