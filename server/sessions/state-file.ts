/**
 * `state.json`: a session as it is known without its journal (engine.md §17.1). Custom metadata and the archive flag live
 * only here; of all the rest the journal has the last word once it is loaded.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { turnOutcome } from '#schema/scalars.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/files/errno.ts';

export const STATE_VERSION = 2;

/** Milliseconds since the epoch. */
const time = z.number();

const agentEntrySchema = z.looseObject({
  /** Relative to the session folder: `agents/<agent id>`. */
  homedir: z.string(),
  type: z.enum(['main', 'sub']),
  parentAgentId: z.string().optional(),
  forkedFrom: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
});

/** Members of newer versions are kept. */
export const stateDocumentSchema = z.looseObject({
  id: z.string(),
  version: z.number().int(),
  title: z.string().optional(),
  titleKind: z.enum(['replaceable', 'generated', 'custom']).optional(),
  lastPrompt: z.string().optional(),
  createdAt: time,
  updatedAt: time,
  archived: z.boolean(),
  archivedAt: time.optional(),
  cwd: z.string(),
  /** Session id. */
  forkedFrom: z.string().optional(),
  agents: z.record(z.string(), agentEntrySchema),
  custom: z.record(z.string(), z.unknown()).optional(),
  lastTurnReason: turnOutcome.optional(),
});
export type StateDocument = z.infer<typeof stateDocumentSchema>;

export interface StateFile {
  /** Undefined when there is none. Throws when it is damaged. */
  read(): Promise<StateDocument | undefined>;
  /** Replaces the whole file; resolves when it is on the disk. */
  write(document: StateDocument): Promise<void>;
}

/** Writes happen one after the other, so that the last one given is the one that stays. */
export function createStateFile(dir: string): StateFile {
  const path = join(dir, 'state.json');
  let tail: Promise<unknown> = Promise.resolve();

  return {
    async read() {
      await tail;
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return undefined;
        throw error;
      }
      return stateDocumentSchema.parse(JSON.parse(text));
    },
    write(document) {
      const text = `${JSON.stringify(stateDocumentSchema.parse(document), null, 2)}\n`;
      const written = tail.then(() => writeFileAtomic(path, text));
      tail = written.catch(() => undefined);
      return written;
    },
  };
}
