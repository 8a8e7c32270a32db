/** Follows a journal that another process writes: folds its new lines and passes them to the listeners. */
import { ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import { JOURNAL_FORMAT } from './header.ts';
import type { SentRecord } from './line-reader.ts';
import type { OpenJournal } from './open-journal.ts';
import { recordFrame, sendable } from './record-frame.ts';
import { eventTypes, internalTypes } from './record-types.ts';
import type { Batch } from './records.ts';
import { journalFiles } from './journal-files.ts';
import { emptyView, readOn } from './view.ts';

/**
 * Brings the view to the end of the file and publishes the new frames, but none with a number up to `sentUpTo`. Calls run
 * serially: concurrent ones would fold a line twice. A no-op for the writer.
 */
export type CatchUp = (sentUpTo?: number) => Promise<void>;

export function createCatchUp(journal: OpenJournal): CatchUp {
  const { dir, sessionId, blobs, log } = journal;
  const reportUnknown = createUnknownTypeReport(log, sessionId);
  let reading: Promise<void> = Promise.resolve();

  /** Loads the frames of a line; the returned function publishes them after the fold. */
  async function framesOf({ t }: Batch, sent: SentRecord[]): Promise<() => void> {
    const records = await Promise.all(sent.map((one) => blobs.load(sendable(one))));
    return () => journal.outbox.publish(records.map((one) => recordFrame(one, t, journal.stream())));
  }

  /** Reads the new lines; restarts from the beginning when another process wrote lines before the waiting drafts. */
  async function readMore(sentUpTo = journal.view.seq): Promise<void> {
    if (journal.held) return;
    const { view, waiting } = journal;
    const size = await journalFiles.size(dir);
    if (size === view.length && waiting.length === 0 && !view.broken) return;
    const restart = waiting.length > 0 && size > view.length;
    const next = restart ? emptyView(view.header, view.state.features.projections) : view;
    const anew = restart || view.broken;
    if (anew) journal.listeners.tell((listener) => listener.restarted());
    await readOn(next, dir, blobs, (batch, sent) => {
      reportUnknown(batch);
      const tellOf = (publish?: () => void) => () => {
        if (!anew) journal.listeners.tell((listener) => listener.line(batch));
        publish?.();
      };
      const unsent = sent.filter((one) => one.seq > sentUpTo);
      return unsent.length > 0 ? framesOf(batch, unsent).then(tellOf) : tellOf();
    });
    if (restart) journal.waiting = [];
    journal.view = next;
    if (next.header.format > JOURNAL_FORMAT) {
      const format = `journal format ${next.header.format}`;
      journal.readOnly = new ServiceError(
        'persistence.failure',
        `session ${sessionId} was written by a newer version (${format})`,
      );
    }
  }

  return (sentUpTo) => {
    const done = reading.then(() => readMore(sentUpTo));
    reading = done.catch(() => undefined);
    return done;
  };
}

/** Warns once per record type that no fold handles; such records stay in the file and are skipped. */
function createUnknownTypeReport(log: Pick<Logger, 'warn'>, sessionId: string): (batch: Batch) => void {
  const reported = new Set<string>();
  return ({ records }) => {
    for (const { type } of records) {
      if (eventTypes.has(type) || internalTypes.has(type) || reported.has(type)) continue;
      reported.add(type);
      log.warn('a journal holds records of an unknown type; they are kept and skipped', { sessionId, type });
    }
  };
}
