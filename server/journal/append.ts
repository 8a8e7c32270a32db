/**
 * The way of a line into the journal: completed, encoded, written, folded, published, all before `append` returns. So
 * the fold is never behind, and nobody hears of an event that a crash of the process can lose.
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
  hold(drafts?: Draft[]): void;
  release(drafts?: Draft[]): void;
  /** Work without a record of its own is under way. */
  readonly held: boolean;
  /** This process wrote its `session.opened`. */
  readonly opened: boolean;
  /** One line as it is, behind what waits to stand in front of it: written, then folded and told of. */
  write(t: number, drafts: CompleteDraft[]): void;
  /** Folds drafts for the view only, until something is written anyway. */
  settleLater(drafts: CompleteDraft[]): void;
  /** Folds and publishes a line that stands at the view's end already; so many of its records were folded before. */
  follow(line: string, before?: number): void;
}

/** `version` of this program, for `session.opened`. */
export function createAppender(journal: OpenJournal, version: string): Appender {
  const { sessionId, blobs, log } = journal;
  let opened = false;
  /** Work without a record of its own: how much of it, and whether clients know. */
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

  /** Its texts are stored, and those that its frame shows are read. */
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
    // What waited is folded since then; only its place in the file is new.
    if (waiting.length > 0) messagesProjection.written(view.state.messages, view.length);
    view.length += Buffer.byteLength(before);
    journal.waiting = [];
    try {
      follow(line);
    } catch (error) {
      // Written, but not folded: nothing may be built on this state.
      throw journal.fail(new Error(errorMessage(error), { cause: error }));
    }
    blobs.forget();
  }

  /** Records that are to be sent get the numbers after `seq`; without one none does. */
  function encode(t: number, drafts: CompleteDraft[], seq: number | undefined): string {
    let next = seq;
    const records = drafts.map((draft) => {
      const numbered = next !== undefined && isNumbered(draft);
      return recordOf(draft, numbered && next !== undefined ? (next += 1) : undefined);
    });
    return `${blobs.encode({ t, r: records })}\n`;
  }

  /** The line is decoded again, so that a live state comes from the same bytes as a loaded one. */
  function follow(line: string, before = 0): void {
    const { view } = journal;
    const offset = view.length;
    const batch = encodedBatch(line, blobs);
    const bytes = Buffer.byteLength(line);
    const sent = foldLine(view, batch, offset, offset + bytes, before);
    journal.listeners.tell((listener) => listener.line(batch));
    const stream = journal.stream();
    // What is a part of the line is no longer, unless it has texts elsewhere.
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
      // A failed write was logged where it failed.
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
    hold: (drafts = []) => changeHolds(1, drafts),
    release: (drafts = []) => changeHolds(-1, drafts),
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
