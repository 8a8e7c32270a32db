/** The document `workspaces.json`: the registered workspaces, and those that were removed by a user. */
import * as z from 'zod';
import { workspaceId } from '#schema/scalars.ts';
import type { Documents } from '#server/storage/documents.ts';

export const DOCUMENT = 'workspaces.json';

const entrySchema = z.object({
  root: z.string().min(1),
  name: z.string().min(1).max(100),
  created_at: z.iso.datetime(),
  last_opened_at: z.iso.datetime(),
});
export type Entry = z.infer<typeof entrySchema>;

/** Schema of the document. */
export const registrySchema = z.object({
  version: z.literal(1),
  /** In order of registration. Invalid entries are omitted. */
  workspaces: z.record(z.string(), z.unknown()).transform((entries) => {
    const valid: Record<string, Entry> = {};
    for (const [id, value] of Object.entries(entries)) {
      const entry = entrySchema.safeParse(value);
      if (entry.success && workspaceId.safeParse(id).success) valid[id] = entry.data;
    }
    return valid;
  }),
  deleted_workspace_ids: z.array(z.string()).default([]),
});
type Registry = z.output<typeof registrySchema>;

/** Writes the document; the writer of the registry's change lock. */
export interface RegistryWriter {
  /** Replaces the document. Throws `persistence.failure`. */
  write(registry: Registry): Promise<void>;
}

export const createRegistryWriter = (documents: Pick<Documents, 'set'>): RegistryWriter => ({
  write: (registry) => documents.set(DOCUMENT, registrySchema, registry),
});

export const emptyRegistry = (): Registry => ({ version: 1, workspaces: {}, deleted_workspace_ids: [] });
