/** Pages of a session's messages, their bodies read from the journal. */
import type { ContextMessage } from '#schema/engine.ts';
import type { Message } from '#schema/message.ts';
import { iso } from '#schema/scalars.ts';
import type { BlobStore } from './blobs.ts';
import { journalFiles, type JournalReader } from './journal-files.ts';
import { readBatch, readLines, type Line } from './line-reader.ts';
import { messageOf, shownMessage } from './message-view.ts';
import { messageId, type MessagePlace, type MessagesState } from './projections/messages.ts';
import type { Stored } from './texts.ts';

/** Lines that far apart are still read in one go. */
const GAP_BYTES = 128 * 1024;

/**
 * The messages at these places of the list, in the order given. What the list says is taken at once: appends and undos
 * that come while the file is read change nothing.
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

/** The bodies that stand in lines, each as its record has it. */
async function readBodies(dir: string, places: MessagePlace[], blobs: BlobStore) {
  const byLine = new Map<number, MessagePlace[]>();
  for (const place of places) {
    if (place.line !== undefined) byLine.set(place.line, [...(byLine.get(place.line) ?? []), place]);
  }
  const bodies = new Map<MessagePlace, Stored<ContextMessage>>();
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

/** Offsets in order, those near each other together. */
function runsOf(offsets: number[]): number[][] {
  const runs: number[][] = [];
  for (const offset of offsets) {
    const run = runs.at(-1);
    if (run && offset - (run.at(-1) ?? 0) <= GAP_BYTES) run.push(offset);
    else runs.push([offset]);
  }
  return runs;
}

/** The lines at these offsets, by one read through all of them. */
async function* linesOf(file: JournalReader, offsets: number[]): AsyncGenerator<Line> {
  const left = new Set(offsets);
  for await (const lines of readLines(file, offsets[0] ?? 0)) {
    for (const line of lines) {
      if (left.delete(line.offset)) yield line;
    }
    if (left.size === 0) return;
  }
}
