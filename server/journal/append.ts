/**
 * Appends a line to the journal: completes, encodes, writes, folds and publishes it before `append` returns. So the
 * fold is never outdated, and no event is published that a crash of the process can lose.
 */
import { errorMessage } from '#server/errors/service-error.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { withActivity } from './activity.ts';
import { assertAtHand, mayRefer } from './blobs.ts';
import { placeSplices } from './context-size.ts';
import { encodedBatch } from './line-reader.ts';
import type { OpenJournal } from './open-journal.ts';
import { messagesProjection } from './projections/messages.ts';
import { isSurelyCut, recordFrame, sendable, SPLICE_FRAME_LIMIT_BYTES } from './record-frame.ts';
import { internalTypes } from './record-types.ts';
import { internal, recordOf, type CompleteDraft, type Draft } from './records.ts';
import { foldLine } from './view.ts';
import type { JournalWriter } from './writer.ts';

export interface Appender {
  /** See `SessionLog`, also for the next three. */
  append(drafts: Draft[]): number;
  attempt(drafts: Draft[]): boolean;
  beginWork(drafts?: Draft[]): void;
  endWork(drafts?: Draft[]): void;
  /** Whether an operation without a record of its own runs. */
  readonly held: boolean;
  /** Whether this process wrote its `session.opened`. */
  readonly opened: boolean;
  /** Writes one line unmodified, after the waiting drafts, then folds and publishes it. */
  write(t: number, drafts: CompleteDraft[]): void;
  /** Folds drafts for the view only; they are written before the next line. */
  settleLater(drafts: CompleteDraft[]): void;
  /** Folds and publishes a line already stored at the view's end; its first `before` records were folded earlier. */
  follow(line: string, before?: number): void;
}

/** `version` is this program's, recorded in `session.opened`. */
export function createAppender(journal: OpenJournal, version: string): Appender {
  const { sessionId, blobs, log } = journal;
  let opened = false;
  /** Number of running operations without a record; `holdsChanged` until a change from or to 0 is published. */
  let holds = 0;
  let holdsChanged = false;

  function append(drafts: Draft[]): number {
    journal.assertWritable();
    writable();
    drafts.forEach(assertReady);
    const completed = withActivity(journal.view.state.activity, { held: holds > 0, changed: holdsChanged }, drafts);
    holdsChanged = false;
    if (completed.length === 0) return journal.view.seq;
    const opening = opened ? [] : [internal(MAIN_AGENT, 'session.opened', { version, pid: process.pid })];
    write(journal.now(), placeSplices(journal.view.state, [...opening, ...completed]));
    opened = true;
    return journal.view.seq;
  }

  /** Throws unless the draft's long texts are stored and those of its frame are in memory. */
  function assertReady(draft: Draft): void {
    assertAtHand(draft, isNumbered(draft) && !(draft.type === 'context.spliced' && isSurelyCut(draft)));
  }

  function write(t: number, drafts: CompleteDraft[]): void {
    const { view, waiting } = journal;
    let before = '';
    let line: string;
    try {
      if (waiting.length > 0) before = encode(view.state.lastTime, waiting, undefined);
      line = encode(t, drafts, view.seq);
      writable().write(before + line);
    } catch (error) {
      throw journal.fail(error);
    }
    // The waiting drafts were folded before; only their offset in the file is new.
    if (waiting.length > 0) messagesProjection.written(view.state.messages, view.length);
    view.length += Buffer.byteLength(before);
    journal.waiting = [];
    try {
      follow(line);
    } catch (error) {
      // The line is written but not folded, so this state must not be used any more.
      throw journal.fail(new Error(errorMessage(error), { cause: error }));
    }
    blobs.forget();
  }

  /** Numbers the records to be sent, starting after `seq`; none is numbered without `seq`. */
  function encode(t: number, drafts: CompleteDraft[], seq: number | undefined): string {
    let next = seq;
    const records = drafts.map((draft) => {
      const numbered = next !== undefined && isNumbered(draft);
      return recordOf(draft, numbered && next !== undefined ? (next += 1) : undefined);
    });
    return `${blobs.encode({ t, r: records })}\n`;
  }

  /** Decodes the line again, so that a live state is derived from the same bytes as a loaded one. */
  function follow(line: string, before = 0): void {
    const { view } = journal;
    const offset = view.length;
    const batch = encodedBatch(line, blobs);
    const bytes = Buffer.byteLength(line);
    const sent = foldLine(view, batch, offset, offset + bytes, before);
    journal.listeners.tell((listener) => listener.line(batch));
    const stream = journal.stream();
    // The frames of a line are no longer than the line, unless it refers to blobs.
    const short = bytes <= SPLICE_FRAME_LIMIT_BYTES && !mayRefer(line);
    journal.outbox.publish(sent.map((one) => recordFrame(blobs.encoded(sendable(one)), batch.t, stream, short)));
  }

  function writable(): JournalWriter {
    if (!journal.held) throw new Error(`session ${sessionId} is not claimed`);
    return journal.held.writer;
  }

  function attempt(drafts: Draft[]): boolean {
    try {
      append(drafts);
      return true;
    } catch (error) {
      // The failed write was logged already.
      if (error !== journal.readOnly) log.error('records could not be appended', { sessionId, err: error });
      return false;
    }
  }

  function changeHolds(by: 1 | -1, drafts: Draft[]): void {
    const before = holds > 0;
    holds += by;
    if (holds > 0 !== before) holdsChanged = true;
    append(drafts);
  }

  return {
    append,
    attempt,
    beginWork: (drafts = []) => changeHolds(1, drafts),
    endWork: (drafts = []) => changeHolds(-1, drafts),
    get held() {
      return holds > 0;
    },
    get opened() {
      return opened;
    },
    write,
    settleLater(drafts) {
      const records = drafts.map((draft) => recordOf(draft, undefined));
      journal.foldUnwritten(records, journal.waiting.length);
      journal.waiting.push(...drafts);
    },
    follow,
  };
}

const isNumbered = ({ type, unsent }: Draft) => !unsent && !internalTypes.has(type);
