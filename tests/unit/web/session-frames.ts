/** Frames and messages as the server would send them, for tests of the page's state. */
import type { EventFrame, Message, Session, Snapshot } from '../../../web/client/types.ts';
import { approvalsPart } from '../../../web/features/approvals/part.ts';
import { questionsPart } from '../../../web/features/questions/part.ts';
import { createReducer, type Action } from '../../../web/state/session-reducer.ts';
import { emptyView, type SessionView } from '../../../web/state/session-view.ts';

export const SESSION = 'session_1';
export const EPOCH = 'ep_1';
const TIME = '2026-01-02T03:04:05.678Z';

export const session = (over: Partial<Session> = {}): Session => ({
  id: SESSION,
  workspace_id: 'wd_shop_000000000000',
  title: '',
  created_at: TIME,
  updated_at: TIME,
  archived: false,
  busy: false,
  main_turn_active: false,
  pending_interaction: 'none',
  metadata: { cwd: '/home/me/shop' },
  agent_config: { model: '' },
  usage: {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_creation_tokens: 0,
    context_tokens: 0,
  },
  permission_rules: [],
  message_count: 0,
  last_seq: 0,
  ...over,
});

export const message = (id: string, role: Message['role'], content: Message['content']): Message => ({
  id,
  session_id: SESSION,
  role,
  content,
  created_at: TIME,
});
export const text = (value: string): Message['content'] => [{ type: 'text', text: value }];

export const snapshot = (over: Partial<Snapshot> = {}): Snapshot => ({
  as_of_seq: 0,
  epoch: EPOCH,
  session: session(),
  messages: { items: [], has_more: false },
  in_flight_turn: null,
  subagents: [],
  pending_approvals: [],
  pending_questions: [],
  ...over,
});

type Distribute<F> = F extends EventFrame
  ? { type: F['type']; payload: Omit<F['payload'], 'agentId' | 'sessionId'>; agent?: string; offset?: number }
  : never;
/** An event without what every frame repeats. */
export type Draft = Distribute<EventFrame>;

const volatileTypes = ['assistant.delta', 'thinking.delta', 'tool.call.delta', 'tool.progress', 'agent.status.updated'];

/** Numbers drafts as one stream. */
export function frameMaker(start = 0) {
  let seq = start;
  return (draft: Draft): EventFrame => {
    const { type, payload, agent = 'main', offset } = draft;
    const transient = volatileTypes.includes(type);
    if (!transient) seq += 1;
    const frame = {
      type,
      seq,
      session_id: SESSION,
      timestamp: TIME,
      payload: { type, ...payload, agentId: agent, sessionId: SESSION },
      epoch: EPOCH,
      ...(transient && { volatile: true }),
      ...(offset !== undefined && { offset }),
    };
    return frame as EventFrame;
  };
}

export const reduce = createReducer([approvalsPart, questionsPart]);

/** Folds drafts and other actions over a view. */
export function play(steps: (Draft | Action)[], from: SessionView = emptyView, frame = frameMaker()): SessionView {
  return steps.reduce(
    (view, step) => reduce(view, 'payload' in step ? { type: 'event', frame: frame(step) } : step),
    from,
  );
}
