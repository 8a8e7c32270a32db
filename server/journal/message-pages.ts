/** Pages of a session's messages, their bodies read from the journal. */
import type { ContextMessage } from '#schema/engine.ts';
import type { Message } from '#schema/rest/message.ts';
import { iso } from '#schema/scalars.ts';
import type { BlobStore } from './blobs.ts';
import { journalFiles, type JournalReader } from './journal-files.ts';
import { readBatch, readLines, type Line } from './line-reader.ts';
import { messageOf, shownMessage } from './message-view.ts';
import { messageId, type MessagePosition, type MessagesState } from './projections/messages.ts';
import type { Stored } from './texts.ts';

/** Lines at most this far apart are read in one pass. */
const GAP_BYTES = 128 * 1024;

/**
 * The messages at these indexes of the list, in the given order. The list is read synchronously: appends and undos
 * during the read of the file have no effect.
 */
export async function readMessages(
  dir: string,
  state: MessagesState,
  indexes: readonly number[],
  blobs: BlobStore,
): Promise<Message[]> {
  const wanted = indexes.flatMap((index) => {
    const place = state.history[index];
    return place ? [{ id: messageId(state, index), place }] : [];
  });
  const bodies = await readBodies(
    dir,
    wanted.map(({ place }) => place),
    blobs,
  );
  const messages: Message[] = [];
  for (const { id, place } of wanted) {
    const body = shownMessage(await blobs.load(bodies.get(place) ?? messageOf(place.unwritten, place.message)));
    messages.push({ id, session_id: state.sessionId, role: place.role, created_at: iso(place.t), ...body });
  }
  return messages;
}

/** Reads the bodies that are stored in lines, verbatim from their records. */
async function readBodies(dir: string, places: MessagePosition[], blobs: BlobStore) {
  const byLine = new Map<number, MessagePosition[]>();
  for (const place of places) {
    if (place.line !== undefined) byLine.set(place.line, [...(byLine.get(place.line) ?? []), place]);
  }
  const bodies = new Map<MessagePosition, Stored<ContextMessage>>();
  if (byLine.size === 0) return bodies;
  const file = await journalFiles.openToRead(dir);
  try {
    for (const run of runsOf([...byLine.keys()].toSorted((a, b) => a - b))) {
      for await (const line of linesOf(file, run)) {
        const { records } = await readBatch(line, blobs);
        for (const place of byLine.get(line.offset) ?? []) {
          bodies.set(place, messageOf(records[place.record], place.message));
        }
      }
    }
  } finally {
    await file.close();
  }
  return bodies;
}

/** Groups ascending offsets that are close to each other. */
function runsOf(offsets: number[]): number[][] {
  const runs: number[][] = [];
  for (const offset of offsets) {
    const run = runs.at(-1);
    if (run && offset - (run.at(-1) ?? 0) <= GAP_BYTES) run.push(offset);
    else runs.push([offset]);
  }
  return runs;
}

/** Reads the lines at these offsets in one pass. */
async function* linesOf(file: JournalReader, offsets: number[]): AsyncGenerator<Line> {
  const left = new Set(offsets);
  for await (const lines of readLines(file, offsets[0] ?? 0)) {
    for (const line of lines) {
      if (left.delete(line.offset)) yield line;
    }
    if (left.size === 0) return;
  }
}
