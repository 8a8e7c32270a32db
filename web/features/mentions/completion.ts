/** Candidates for a mention: files of the session's workspace. */
import type { FileHit } from '@service-code/client';
import type { Candidate, Completion } from '../feature.ts';
import { t } from '../../messages/messages.ts';
import { mentionAt, mentionOf } from './mention.ts';

export interface MentionCandidate extends Candidate {
  hit: FileHit;
}

const DELAY_MS = 60;
const LIMIT = 8;

export const mentionCompletion: Omit<Completion, 'row'> = {
  label: t('mentions.label'),
  typedAt: mentionAt,
  delayMs: DELAY_MS,
  open({ rest, view }) {
    const workspace = view.session?.workspace_id;
    return async (query): Promise<MentionCandidate[]> => {
      if (workspace === undefined) return [];
      const body = { workspace, query, limit: LIMIT };
      const { items } = await rest.request('POST /api/v1/workspace/fs:suggest', { body });
      return items.map((hit) => ({ key: hit.path, insertion: mentionOf(hit), hit }));
    };
  },
};
