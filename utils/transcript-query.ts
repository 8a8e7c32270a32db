/** Query parameters that the endpoints of transcripts share. */
import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { PAGE_SIZE_MAX, queryInteger } from './query.ts';

const PLAIN_AGENT_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/;

/**
 * A refinement: the id of an agent is a plain name. Its issue is reported in addition to others of the query.
 *
 *     z.object({ agent_id: nonEmpty }).refine(...plainAgentId)
 */
export const plainAgentId = [
  ({ agent_id }: { agent_id?: string | undefined }) => agent_id === undefined || PLAIN_AGENT_ID.test(agent_id),
  { path: ['agent_id'], error: 'agent_id must be a plain agent id (no path separators)' },
] as const satisfies [unknown, { path: string[]; error: string }];

/** Converts the id of a turn to its ordinal. */
const turnCursor = z
  .string()
  .regex(/^t\d+$/, { error: 'must be a turn id' })
  .transform((id) => Number(id.slice(1)))
  .optional();

const DEFAULT_TURNS = 20;
const cursors = ['before_turn', 'after_turn', 'before_id', 'after_id'] as const;

/** The query of a page of turns; cursors have aliases with the names of other lists. */
export const transcriptPageQuery = () =>
  z
    .object({
      agent_id: nonEmpty,
      before_turn: turnCursor,
      after_turn: turnCursor,
      before_id: turnCursor,
      after_id: turnCursor,
      page_size: queryInteger({ min: 1, max: PAGE_SIZE_MAX }).default(DEFAULT_TURNS),
    })
    .refine((query) => cursors.filter((cursor) => query[cursor] !== undefined).length < 2, {
      path: ['before_turn'],
      error: 'before_turn and after_turn are mutually exclusive',
    })
    .refine(...plainAgentId);
