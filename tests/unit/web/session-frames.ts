/** Sessions and events in the form that the server sends, for tests of the page's state. */
import type { EventFrame, Session } from '@service-code/client';

export const SESSION = 'session_1';
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

type Distribute<F> = F extends EventFrame
  ? { type: F['type']; payload: Omit<F['payload'], 'type' | 'time' | 'agentId' | 'sessionId'>; agent?: string }
  : never;
/** An event without the members that every frame repeats. */
export type Draft = Distribute<EventFrame>;

/** Numbers drafts as one stream. */
export function frameMaker(start = 0) {
  let seq = start;
  return ({ type, payload, agent = 'main' }: Draft): EventFrame => {
    seq += 1;
    const routed = { type, ...payload, agentId: agent, sessionId: SESSION };
    return { type, seq, session_id: SESSION, timestamp: TIME, payload: routed, epoch: 'ep_1' } as EventFrame;
  };
}
