/** The log of a session that begins as a copy of another one. */
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Session } from '#schema/session.ts';
import { placeSplices } from './context-size.ts';
import { copyLines, type CopiedJournal } from './copy-lines.ts';
import { settleCrash } from './crash-recovery.ts';
import { applyBatch, type LogState } from './fold.ts';
import { journalFiles, type JournalFile } from './journal-files.ts';
import { event, internal, recordOf, type TitleKind } from './records.ts';
import { openLog, type SessionLog, type SessionLogOptions } from './session-log.ts';
import { newHeader } from './view.ts';

export interface ForkSessionLogOptions extends SessionLogOptions {
  source: CopiedJournal;
  /** The folder while it is made, with all that the journal refers to; becomes `dir`, which must not be there. */
  stage: string;
  kind: 'fork' | 'child';
  /** What the copy is, from the fold of what was copied; a refusal is thrown. */
  begin(state: LogState): Promise<{ session: Session; titleKind: TitleKind }>;
}

/**
 * Makes the journal of a session that begins with another one's, folds it and gives its folder the name; the copy's
 * `event.session.created` is published then. What ran in the original is closed in the copy. Throws what `begin` throws,
 * 50001 of a damaged journal, 50003 of one of a newer format.
 */
export async function forkSessionLog(options: ForkSessionLogOptions): Promise<SessionLog> {
  const { dir, stage, sessionId, source, kind, clock, files = journalFiles, projections = [] } = options;
  const now = clock.now();
  const view = await copyLines({ source, stage, header: newHeader(sessionId, now), projections, files });
  const { state } = view;
  const { session, titleKind } = await options.begin(state);
  const more = state.features.projections.flatMap((projection) => projection.copied(state.features));
  // What ran is closed as of the last that is known of it.
  const { lastTime } = state;
  const t = Math.max(now, lastTime);
  const head = [
    recordOf(event(MAIN_AGENT, 'event.session.created', { session }, { titleKind }), 1),
    recordOf(internal(MAIN_AGENT, 'forked', { source: source.sessionId, kind }), undefined),
  ];
  applyBatch(state, { t, records: head }, view.length);
  const closing = placeSplices(state, [...settleCrash({ ...state, lastTime }), ...more]);
  const line = `${view.blobs.encode({ t, r: [...head, ...closing.map((draft) => recordOf(draft, undefined))] })}\n`;
  const file = files.openToWrite(stage);
  try {
    writeWhole(file, Buffer.from(line), view.length);
  } finally {
    file.close();
  }
  await files.rename(stage, dir);
  view.blobs.moved(dir);
  const opened = openLog(options, view.blobs, view);
  opened.follow(line, head.length);
  return opened.log;
}

function writeWhole(file: JournalFile, bytes: Buffer, position: number): void {
  for (let at = 0; at < bytes.length;) at += file.write(bytes.subarray(at), position + at);
}
