/** `POST /search`. */
import * as z from 'zod';
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

const hitSchema = z
  .object({
    session_id: z.string(),
    workspace_id: z.string(),
    session_title: z.string(),
    agent_id: z.string().describe('`""` for titles'),
    role,
    snippet: z.string(),
    time: z.int().describe('Milliseconds since the epoch'),
    turn: count.optional(),
    step_id: z.string().optional(),
    score: z.number(),
  })
  .meta({ id: 'SearchHit' });
export type SearchHit = z.infer<typeof hitSchema>;

export const searchReplySchema = z.object({
  items: z.array(hitSchema),
  has_more: z.boolean(),
  page_token: z.string().optional().describe('Present exactly if `has_more`'),
  incomplete: z.enum(['candidate_cap', 'postings_budget', 'deadline']).optional(),
  index_state: z.object({
    state: z.enum(['building', 'ready', 'readonly']),
    indexed_sessions: count,
    total_sessions: count,
    documents: count,
    stale: z.literal(true).optional(),
    degraded: z.string().optional(),
  }),
  source: z.enum(['live', 'index']),
});
export type SearchReply = z.infer<typeof searchReplySchema>;
