/** Replies of `GET /api/v2/sessions`. */
import * as z from 'zod';
import { count } from '../scalars.ts';
import { pullRequestSchema } from './git.ts';

export const activityStatus = z.enum(['running', 'approval', 'question', 'failed', 'idle']);
export type ActivityStatus = z.infer<typeof activityStatus>;

export const sessionSort = z.enum(['meta.updated_at_desc', 'meta.updated_at_asc', 'meta.created_at_desc']);

/** Milliseconds since the epoch. */
const time = z.int();

const workspaceSchema = z.object({ id: z.string(), cwd: z.string().nullable() });

/** Git facts of a session's directory. */
export const gitFactsSchema = z.object({
  branch: z.string().nullable(),
  pull_request: pullRequestSchema.extend({ state: z.enum(['open', 'closed', 'merged']) }).nullable(),
});
export type GitFacts = z.infer<typeof gitFactsSchema>;

const listedSessionSchema = z
  .object({
    id: z.string(),
    workspace: workspaceSchema,
    meta: z.object({
      title: z.string().nullable(),
      last_prompt: z.string().nullable(),
      created_at: time,
      updated_at: time,
      archived: z.boolean(),
      archived_at: time.nullable(),
    }),
    activity: z.object({ status: activityStatus, model: z.string().nullable() }),
    git: gitFactsSchema.optional(),
  })
  .meta({ id: 'ListedSession' });
export type ListedSession = z.infer<typeof listedSessionSchema>;

/** An item of `fields=id,archived`. */
const projectedSessionSchema = z.strictObject({ id: z.string(), archived: z.boolean() });

const item = z.union([projectedSessionSchema, listedSessionSchema]);
export type SessionItem = z.infer<typeof item>;

const page = { total: count, has_more: z.boolean(), next_page_token: z.string().nullable() };

const groupSchema = z.object({ workspace: workspaceSchema, sessions: z.array(item), total: count });
export type SessionGroup = z.infer<typeof groupSchema>;

const flatPageSchema = z.object({ items: z.array(item), ...page });
const groupedPageSchema = z.object({ groups: z.array(groupSchema), ...page });

export const sessionListingSchema = z.union([flatPageSchema, groupedPageSchema]);
export type FlatPage = z.infer<typeof flatPageSchema>;
export type GroupedPage = z.infer<typeof groupedPageSchema>;
export type SessionListing = z.infer<typeof sessionListingSchema>;
