import * as z from 'zod';
import { count, isoTime, workspaceId } from '../scalars.ts';

/** A registered project folder. */
export const workspaceSchema = z
  .object({
    id: z.string(),
    root: z.string(),
    name: z.string(),
    created_at: isoTime,
    last_opened_at: isoTime,
    session_count: count,
  })
  .meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof workspaceSchema>;

const name = z.string().min(1).max(100);

export const createWorkspaceSchema = z.object({ root: z.string().min(1), name: name.optional() });
export const renameWorkspaceSchema = z.object({ name });

/** The path parameter of one workspace. */
export const workspaceParams = z.object({ workspace_id: workspaceId });

export const trustSchema = z.object({ trusted: z.boolean() });

export const addDirectorySchema = z.object({ path: z.string().min(1), persist: z.boolean().default(true) });
export const addedDirectorySchema = z.object({
  project_root: z.string(),
  config_path: z.string(),
  /** All additional directories that the workspace has now. */
  additional_dirs: z.array(z.string()),
  persisted: z.boolean(),
});
export type AddedDirectory = z.infer<typeof addedDirectorySchema>;
