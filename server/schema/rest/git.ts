/** Git state of a work directory. */
import * as z from 'zod';
import { gitStatusSchema } from './file-entry.ts';

/** How a path differs from the last commit. */
const changeSchema = gitStatusSchema.exclude(['clean']);
export type GitChange = z.infer<typeof changeSchema>;

export const pullRequestSchema = z
  .object({ number: z.int().min(1), state: z.enum(['open', 'merged', 'closed', 'draft']), url: z.string() })
  .meta({ id: 'PullRequest' });
export type PullRequest = z.infer<typeof pullRequestSchema>;

export const gitStatusReplySchema = z
  .object({
    branch: z.string().meta({ description: 'Empty on a detached HEAD.' }),
    ahead: z.int().min(0),
    behind: z.int().min(0),
    entries: z.record(z.string(), changeSchema),
    additions: z.int().min(0),
    deletions: z.int().min(0),
    pullRequest: pullRequestSchema.nullable(),
  })
  .meta({ id: 'GitStatusReply' });
export type GitStatusReply = z.infer<typeof gitStatusReplySchema>;

export const gitDiffSchema = z
  .object({ path: z.string(), diff: z.string(), truncated: z.boolean() })
  .meta({ id: 'GitDiff' });
export type GitDiff = z.infer<typeof gitDiffSchema>;
