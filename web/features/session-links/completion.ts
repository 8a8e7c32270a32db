/** Candidates for a link: the sessions of the server, without the open one. */
import type { Session } from '@service-code/client';
import type { Candidate, Completion } from '../feature.ts';
import { matchingSessions, sessionLinkAt, sessionLinkOf } from './link.ts';

export interface SessionCandidate extends Candidate {
  session: Session;
}

const READ = 100;

export const sessionLinkCompletion: Omit<Completion, 'row' | 'label'> = {
  typedAt: sessionLinkAt,
  open({ rest, view }) {
    const reading = rest.request('GET /api/v1/sessions', { query: { page_size: READ, exclude_empty: true } });
    return async (query): Promise<SessionCandidate[]> => {
      const { items } = await reading;
      const others = items.filter(({ id }) => id !== view.id);
      return matchingSessions(others, query).map((session) => ({
        key: session.id,
        insertion: sessionLinkOf(session),
        session,
      }));
    };
  },
};
