/** Client operations on the note of a session. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { LogState } from '#server/journal/fold.ts';
import { event } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Note } from '#schema/rest/note.ts';
import { noteProjection } from './projection.ts';

/** The note as clients read it; empty before the first write. */
export const noteOf = (state: LogState): Note => ({ content: noteProjection.of(state.features).content });

/** Replaces the note. Throws `session.busy`, `persistence.failure`. */
export async function writeNote({ log }: SessionContext, note: Note): Promise<Note> {
  await log.claim();
  log.append([event(MAIN_AGENT, 'note.updated', note)]);
  return noteOf(log.state);
}
