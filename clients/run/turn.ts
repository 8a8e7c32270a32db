/** Follows one prompt of a session by its events, to its end. */
import { MAIN_AGENT, type Client, type EventFrame, type Rest } from '@service-code/client';
import type { EndReason } from './exit-codes.ts';

/** A server that is away for so long is not waited for. */
const AWAY_MS = 15_000;

export interface TurnEnd {
  reason: Extract<EndReason, 'completed' | 'failed' | 'blocked' | 'interrupted' | 'unreachable'>;
  /** The reason of a failure. */
  message?: string;
}

export interface Usage {
  inputOther: number;
  output: number;
  inputCacheRead: number;
  inputCacheCreation: number;
}

export interface Turn {
  /** Resolves when the prompt has settled. */
  readonly ended: Promise<TurnEnd>;
  /** Number of the main agent's turn; undefined before it starts. */
  number(): number | undefined;
  usage(): Usage;
  close(): void;
}

/**
 * Subscribes to the session; resolves when its events are delivered. `onEvent` receives each of them; `isOwn`: the turn
 * of the prompt runs, and the event is not one of another turn of the main agent.
 */
export async function followPrompt(
  client: Client,
  {
    sessionId,
    promptId,
    onEvent,
  }: { sessionId: string; promptId: string; onEvent(frame: EventFrame, isOwn: boolean): void },
): Promise<Turn> {
  /** The prompt that settles: another one after this one was steered into its turn. */
  let settling = promptId;
  let turn: number | undefined;
  let isRunning = false;
  let failure: string | undefined;
  let cursor: { seq: number; epoch: string } | undefined;
  const usage: Usage = { inputOther: 0, output: 0, inputCacheRead: 0, inputCacheCreation: 0 };
  let settle: (end: TurnEnd) => void = () => undefined;
  const ended = new Promise<TurnEnd>((resolve) => (settle = resolve));

  function onFrame(frame: EventFrame) {
    if (frame.session_id !== sessionId) return;
    if (frame.epoch !== undefined && frame.volatile !== true) cursor = { seq: frame.seq, epoch: frame.epoch };
    const { payload } = frame;
    const isMain = 'agentId' in payload && payload.agentId === MAIN_AGENT;
    if (payload.type === 'turn.started' && isMain) {
      isRunning = payload.promptId === settling;
      if (isRunning) turn = payload.turnId;
    }
    if (payload.type === 'turn.step.completed' && isMain && payload.turnId === turn && payload.usage)
      add(payload.usage);
    if (payload.type === 'turn.ended' && isMain && payload.turnId === turn) {
      isRunning = false;
      failure = payload.error?.message;
    }
    if (payload.type === 'prompt.steered' && payload.promptIds.includes(settling)) settling = payload.activePromptId;
    onEvent(frame, isRunning);
    if (payload.type === 'prompt.completed' && payload.promptId === settling) {
      settle({ reason: payload.reason, ...(failure !== undefined && { message: failure }) });
    }
    if (payload.type === 'prompt.aborted' && payload.promptId === settling) settle({ reason: 'interrupted' });
  }

  function add(step: Usage) {
    usage.inputOther += step.inputOther;
    usage.output += step.output;
    usage.inputCacheRead += step.inputCacheRead;
    usage.inputCacheCreation += step.inputCacheCreation;
  }

  async function subscribe() {
    const { resync_required: lost } = await client.socket.request('subscribe', {
      session_ids: [sessionId],
      ...(cursor && { cursors: { [sessionId]: cursor } }),
    });
    if (lost.length > 0 && (await isSettled(client.rest, sessionId, settling))) settle({ reason: 'interrupted' });
  }

  const offEvents = client.socket.onEvent(onFrame);
  await subscribe();
  let away: ReturnType<typeof setTimeout> | undefined;
  const lose = (message: string) => settle({ reason: 'unreachable', message });
  // The client opens a connection that was lost again.
  const offConnection = client.socket.onConnection(({ kind }) => {
    if (kind === 'refused') lose('the server refuses the token');
    if (kind === 'waiting') away ??= setTimeout(() => lose('the server does not answer any more'), AWAY_MS);
    if (kind !== 'open') return;
    clearTimeout(away);
    away = undefined;
    // A connection that is lost meanwhile is opened once more.
    subscribe().catch(() => undefined);
  });
  return {
    ended,
    number: () => turn,
    usage: () => usage,
    close() {
      clearTimeout(away);
      offEvents();
      offConnection();
    },
  };
}

/** Whether a prompt that was accepted is neither active nor queued any more. */
async function isSettled(rest: Rest, session_id: string, promptId: string): Promise<boolean> {
  const { active, queued } = await rest.request('GET /api/v1/sessions/{session_id}/prompts', { path: { session_id } });
  return active?.prompt_id !== promptId && queued.every(({ prompt_id }) => prompt_id !== promptId);
}

/** The text of the turn's last step. */
export async function answerOf(rest: Rest, sessionId: string, turn: number): Promise<string> {
  const query = { agent_id: MAIN_AGENT, before_turn: `t${turn + 1}`, page_size: 1 };
  const { items } = await rest.transcript(sessionId, query);
  const item = items.findLast((each) => each.kind === 'turn' && each.turnId === `t${turn}`);
  const step = item?.kind === 'turn' ? item.steps.at(-1) : undefined;
  return (step?.frames ?? []).map((frame) => (frame.kind === 'text' ? frame.text : '')).join('');
}
