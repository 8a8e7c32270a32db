/** Shared state of an open session log's parts: its view, its writer, and why it is read-only. */
import type { Clock } from '#server/clock.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { EventSink } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import type { BlobStore } from './blobs.ts';
import { settleCrash } from './crash-recovery.ts';
import { applyBatch } from './fold.ts';
import type { Lock } from './lock.ts';
import { createLogListeners, type LogListeners } from './log-listeners.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import type { StreamIdentity } from './record-frame.ts';
import { recordOf, unsent, type CompleteDraft, type JournalRecord } from './records.ts';
import type { JournalView } from './view.ts';
import type { JournalWriter } from './writer.ts';

export interface OpenJournal {
  readonly dir: string;
  readonly sessionId: string;
  readonly blobs: BlobStore;
  readonly outbox: Outbox;
  readonly listeners: LogListeners;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Replaced when the file has to be read from its start again. */
  view: JournalView;
  /** Crash-recovery drafts that emit no event: folded already, to be written before the first line. */
  waiting: CompleteDraft[];
  /** Records that closed open operations in memory when the log failed. */
  closedByFailure: JournalRecord[];
  /** Set while this process is the writer. */
  held: { lock: Lock; writer: JournalWriter } | undefined;
  /** The reason why no record can be appended any more; undefined while the log is writable. */
  readOnly: ServiceError | undefined;
  closed: boolean;
  stream(): StreamIdentity;
  /** The time, never earlier than that of a previous line or frame. */
  now(): number;
  /** Folds records that are in no line and notifies the listeners; `before` records precede them on their line. */
  foldUnwritten(records: JournalRecord[], before?: number): void;
  /** Throws why the log accepts no appends: `readOnly`, or `persistence.failure` after `close`. */
  assertWritable(): void;
  /** Makes the log read-only, reports it a single time, and returns the error to throw. */
  fail(error: unknown): ServiceError;
  /** The error as `persistence.failure`, unless it is a `ServiceError`. */
  unwritable(error: unknown): ServiceError;
}

export interface OpenJournalOptions {
  dir: string;
  sessionId: string;
  sink: EventSink;
  log: Pick<Logger, 'warn' | 'error'>;
  onFailure(error: ServiceError): void;
  clock: Clock;
}

export function createOpenJournal(options: OpenJournalOptions, blobs: BlobStore, view: JournalView): OpenJournal {
  const { dir, sessionId, sink, log, clock } = options;
  const listenerFailed = (error: unknown) => log.error('a listener of a session log failed', { sessionId, err: error });
  let lastTime = 0;

  const unwritable = (error: unknown) =>
    error instanceof ServiceError
      ? error
      : new ServiceError('persistence.failure', `session ${sessionId} cannot be written: ${errorMessage(error)}`, {
          cause: error,
        });

  function tellOfFailure(failure: ServiceError): void {
    try {
      options.onFailure(failure);
    } catch (error) {
      listenerFailed(error);
    }
  }

  const journal: OpenJournal = {
    dir,
    sessionId,
    blobs,
    outbox: createOutbox(sink, listenerFailed),
    listeners: createLogListeners(listenerFailed),
    log,
    view,
    waiting: [],
    closedByFailure: [],
    held: undefined,
    readOnly: undefined,
    closed: false,
    stream: () => ({ sessionId, epoch: journal.view.header.epoch }),
    now() {
      lastTime = Math.max(clock.now(), lastTime, journal.view.state.lastTime);
      return lastTime;
    },
    foldUnwritten(records, before) {
      const { state } = journal.view;
      const batch = { t: state.lastTime, records };
      applyBatch(state, batch, undefined, before);
      journal.listeners.tell((listener) => listener.line(batch));
    },
    assertWritable() {
      if (journal.readOnly) throw journal.readOnly;
      if (journal.closed) throw new ServiceError('persistence.failure', `session ${sessionId} is closed`);
    },
    fail(error) {
      if (journal.readOnly) return journal.readOnly;
      const failure = unwritable(error);
      journal.readOnly = failure;
      log.error('a session can no longer be written', { sessionId, err: error });
      // Nothing can be recorded any more, so open operations are closed in memory; the next process settles them.
      const { state, broken } = journal.view;
      const drafts = broken ? [] : settleCrash(state);
      journal.closedByFailure = drafts.map((draft) => recordOf(unsent(draft), undefined));
      if (drafts.length > 0) journal.foldUnwritten(journal.closedByFailure);
      queueMicrotask(() => tellOfFailure(failure));
      return failure;
    },
    unwritable,
  };
  return journal;
}
