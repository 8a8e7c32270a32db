/** The log of a session that begins as a copy of another one. */
import type { EventFrame } from '#server/events/frame.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Session } from '#schema/rest/session.ts';
import { placeSplices } from './context-size.ts';
import { createBlobStore } from './blobs.ts';
import { copyLines, foldCopy, type CopiedJournal } from './copy-lines.ts';
import { settleCrash } from './crash-recovery.ts';
import { applyBatch, type LogState } from './fold.ts';
import { journalFiles, type JournalFiles } from './journal-files.ts';
import { encodedBatch, isSent } from './line-reader.ts';
import { recordFrame, sendable } from './record-frame.ts';
import { event, internal, recordOf, type JournalRecord, type TitleKind } from './records.ts';
import { openLog, type SessionLog, type SessionLogOptions } from './session-log.ts';
import { newHeader } from './view.ts';

type ForkKind = 'fork' | 'child';

/** The session that the copy becomes. */
interface Begun {
  session: Session;
  titleKind: TitleKind;
}

export interface ForkOptions extends Pick<SessionLogOptions, 'dir' | 'sessionId' | 'clock' | 'files'> {
  source: CopiedJournal;
  /** Folder in which the copy is built, with all files of the journal; renamed to `dir`, which must not exist. */
  stage: string;
  kind: ForkKind;
}

export interface ForkSessionLogOptions extends ForkOptions, SessionLogOptions {
  /** Derives the session from the fold of the copied lines; throws to refuse. */
  begin(state: LogState): Promise<Begun>;
}

/**
 * Creates the journal of a session that begins with another one's lines, folds it and renames its folder, both durably,
 * then publishes the copy's `event.session.created`. Operations that ran in the original are closed in the copy. Throws
 * errors of `begin`, `internal.error` for a damaged journal, `persistence.failure` for a newer format.
 */
export async function forkSessionLog(options: ForkSessionLogOptions): Promise<SessionLog> {
  const { dir, stage, sessionId, source, kind, clock, files = journalFiles, projections = [] } = options;
  const now = clock.now();
  const view = await foldCopy({ source, stage, header: newHeader(sessionId, now), files }, projections);
  const { state } = view;
  const begun = await options.begin(state);
  const more = state.features.projections.flatMap((projection) => projection.copied(state.features));
  // Running operations are closed at the time of the last record.
  const { lastTime } = state;
  const t = Math.max(now, lastTime);
  const head = firstRecords(begun, source, kind);
  applyBatch(state, { t, records: head }, view.length);
  const closing = placeSplices(state, [...settleCrash({ ...state, lastTime }), ...more]);
  const line = `${view.blobs.encode({ t, r: [...head, ...closing.map((draft) => recordOf(draft, undefined))] })}\n`;
  appendLine(files, stage, line, view.length);
  await files.sync(stage);
  await files.rename(stage, dir);
  view.blobs.moved(dir);
  const opened = openLog(options, view.blobs, view);
  opened.follow(line, head.length);
  return opened.log;
}

/**
 * Like `forkSessionLog`, for a journal up to a line after which nothing was open or unpublished: the copy's own line
 * settles nothing, so nothing is folded or opened. Returns the bytes of the copy's journal, and the frames to publish.
 * Throws `persistence.failure` for a newer format.
 */
export async function forkSettledJournal(
  options: ForkOptions & Begun,
): Promise<{ length: number; frames: EventFrame[] }> {
  const { dir, stage, sessionId, source, kind, clock, files = journalFiles } = options;
  const now = clock.now();
  const { header, length, t: lastTime } = await copyLines({ source, stage, header: newHeader(sessionId, now), files });
  const t = Math.max(now, lastTime);
  const blobs = createBlobStore(stage, files);
  const line = `${blobs.encode({ t, r: firstRecords(options, source, kind) })}\n`;
  appendLine(files, stage, line, length);
  await files.sync(stage);
  await files.rename(stage, dir);
  const stream = { sessionId, epoch: header.epoch };
  const sent = encodedBatch(line, blobs).records.filter(isSent);
  const frames = sent.map((one) => recordFrame(blobs.encoded(sendable(one)), t, stream));
  return { length: length + Buffer.byteLength(line), frames };
}

/** The first records of the copy's own line. */
function firstRecords({ session, titleKind }: Begun, { sessionId }: CopiedJournal, kind: ForkKind): JournalRecord[] {
  return [
    recordOf(event(MAIN_AGENT, 'event.session.created', { session }, { titleKind }), 1),
    recordOf(internal(MAIN_AGENT, 'forked', { source: sessionId, kind }), undefined),
  ];
}

function appendLine(files: JournalFiles, dir: string, line: string, position: number): void {
  const file = files.openToWrite(dir);
  const bytes = Buffer.from(line);
  try {
    for (let at = 0; at < bytes.length;) at += file.write(bytes.subarray(at), position + at);
  } finally {
    file.close();
  }
}
