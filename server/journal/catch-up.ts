/** Reads on in a journal that this process does not write: what is new is folded, and told to who follows it. */
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
 * Brings the view to the end of the file and publishes what it finds there, but no frame up to the number `told`. Calls
 * run one after another: at the same time they would fold a line twice. Does nothing for the writer.
 */
export type CatchUp = (told?: number) => Promise<void>;

export function createCatchUp(journal: OpenJournal): CatchUp {
  const { dir, sessionId, blobs, log } = journal;
  const reportUnknown = createUnknownTypeReport(log, sessionId);
  let reading: Promise<void> = Promise.resolve();

  /** The frames of a line of the file, to be published once it is folded. */
  async function framesOf({ t }: Batch, sent: SentRecord[]): Promise<() => void> {
    const records = await Promise.all(sent.map((one) => blobs.load(sendable(one))));
    return () => journal.outbox.publish(records.map((one) => recordFrame(one, t, journal.stream())));
  }

  /** Reads what the file has more, from the start when lines of another process came before what waits. */
  async function readMore(told = journal.view.seq): Promise<void> {
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
      const untold = sent.filter((one) => one.seq > told);
      return untold.length > 0 ? framesOf(batch, untold).then(tellOf) : tellOf();
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

  return (told) => {
    const done = reading.then(() => readMore(told));
    reading = done.catch(() => undefined);
    return done;
  };
}

/** Warns once of each record type that no fold knows; such records are kept and skipped. */
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
