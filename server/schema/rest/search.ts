/** `POST /search`. */
import { z } from 'zod';
import { count, nonEmpty, workspaceId } from '../scalars.ts';

const role = z.enum(['user', 'assistant', 'title']);

export const searchRequestSchema = z.object({
  query: nonEmpty,
  mode: z
    .enum(['terms', 'literal'])
    .default('terms')
    .describe('`terms` compares whole words, `literal` the text as it is written; case and width never count'),
  op: z
    .enum(['AND', 'OR'])
    .default('AND')
    .describe('Whether all terms have to match, or one; without effect in literal mode'),
  container: z
    .object({
      session_id: nonEmpty.optional(),
      agent_id: nonEmpty.optional(),
      workspace_id: workspaceId.optional(),
    })
    .optional(),
  role: role.optional(),
  start_time: count.optional().describe('Milliseconds since the epoch, inclusive'),
  end_time: count.optional().describe('Milliseconds since the epoch, inclusive'),
  sort: z.enum(['score', 'time_desc', 'time_asc']).default('score'),
  page_size: z.int().min(1).max(50).default(20),
  page_token: z.string().min(1).max(4096).optional(),
});
export type SearchRequest = z.output<typeof searchRequestSchema>;

/** The limit that ended a query before everything was read. */
export type Incomplete = 'candidate_cap' | 'postings_budget' | 'deadline';
