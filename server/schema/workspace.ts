import { z } from 'zod';
import { count, isoTime } from './scalars.ts';

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

export const createWorkspaceSchema = z.object({
  root: z.string().min(1),
  name: z.string().min(1).max(100).optional(),
});
