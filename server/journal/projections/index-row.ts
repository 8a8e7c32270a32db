/** Fields of the session's index row that the journal contains. */
import { MAIN_AGENT } from '#schema/agents.ts';
import type { TitleKind } from '../records.ts';
import type { Projection } from './projection.ts';

export interface IndexState {
  workspaceId: string;
  /** `""` in a journal without one. */
  cwd: string;
  /** `""` without a title. */
  title: string;
  titleKind: TitleKind;
  lastPrompt: string | undefined;
  /** Milliseconds; from the header. */
  createdAt: number;
  /** Milliseconds; `state.json` may have a later one. */
  updatedAt: number;
  forkedFrom: string | undefined;
  /** Custom metadata as of the creation; `state.json` has later changes. */
  custom: Record<string, unknown>;
}

export const indexProjection: Projection<IndexState> = {
  initial: (header) => ({
    workspaceId: '',
    cwd: '',
    title: '',
    titleKind: 'replaceable',
    lastPrompt: undefined,
    createdAt: header.created_at,
    updatedAt: header.created_at,
    forkedFrom: header.forked_from?.session_id,
    custom: {},
  }),
  apply(state, record, t) {
    switch (record.type) {
      case 'event.session.created': {
        const { session } = record;
        const updatedAt = Date.parse(session.updated_at);
        const { cwd, ...custom } = session.metadata;
        state.workspaceId = session.workspace_id;
        state.cwd = cwd;
        state.custom = custom;
        state.title = session.title;
        state.titleKind = record.x?.titleKind ?? 'replaceable';
        state.lastPrompt = session.last_prompt;
        state.updatedAt = Number.isNaN(updatedAt) ? t : updatedAt;
        break;
      }
      case 'session.meta.updated': {
        const { title, patch, x } = record;
        if (title !== undefined) state.title = title;
        if (x?.titleKind) state.titleKind = x.titleKind;
        if (patch.lastPrompt !== undefined) {
          state.lastPrompt = patch.lastPrompt === '' ? undefined : patch.lastPrompt;
          state.updatedAt = t;
        }
        break;
      }
      case 'turn.ended':
        if (record.agent === MAIN_AGENT && record.x?.cause === undefined) state.updatedAt = t;
        break;
    }
  },
};
