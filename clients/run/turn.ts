/** Follows one prompt of a session by its events, to its end. */
import {
  ApiError,
  ConnectionError,
  MAIN_AGENT,
  type Client,
  type EventFrame,
  type Rest,
  type Socket,
} from '@service-code/client';
import type { EndReason } from './exit-codes.ts';

/** The run ends when the server was away for so long. */
const AWAY_MS = 15_000;

export interface TurnEnd {
  reason: Extract<EndReason, 'completed' | 'failed' | 'blocked' | 'cancelled' | 'unreachable'>;
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
  /** To be called when the server has replied to the prompt. */
  accepted(): void;
  /** Id of the prompt that settles: another one after this one was steered into its turn. */
  promptId(): string;
  /** Number of the main agent's turn; undefined before it starts. */
  number(): number | undefined;
  usage(): Usage;
  close(): void;
}

export interface FollowOptions {
  sessionId: string;
  promptId: string;
  /** Whether the events are read from the first one on. */
  isNew: boolean;
  /** `isOwn`: the event belongs to the prompt's turn or to a subagent of it, and the turn runs. */
  onEvent(frame: EventFrame, isOwn: boolean): void;
}

/** Subscribes to the session; resolves when its events are delivered, each once. */
export async function followPrompt(client: Client, options: FollowOptions): Promise<Turn> {
  const { sessionId, isNew, onEvent } = options;
  let settling = options.promptId;
  let running: { turnId: number; promptId: string | undefined } | undefined;
  let number: number | undefined;
  let failure: string | undefined;
  let isAccepted = false;
  let cursor: { seq: number; epoch?: string } | undefined = isNew ? { seq: 0 } : undefined;
  const subagents = new Set<string>();
  const usage: Usage = { inputOther: 0, output: 0, inputCacheRead: 0, inputCacheCreation: 0 };
  let settle: (end: TurnEnd) => void = () => undefined;
  const ended = new Promise<TurnEnd>((resolve) => (settle = resolve));

  /** Whether the frame was delivered before: a global event of the session is sent again by a replay. */
  function isRepeated({ seq, epoch, volatile }: EventFrame): boolean {
    if (epoch === undefined || volatile === true) return false;
    if (cursor && seq <= cursor.seq && (cursor.epoch ?? epoch) === epoch) return true;
    cursor = { seq, epoch };
    return false;
  }

  function onFrame(frame: EventFrame) {
    if (frame.session_id !== sessionId || isRepeated(frame)) return;
    const { payload } = frame;
    const agent = 'agentId' in payload ? payload.agentId : MAIN_AGENT;
    const isMain = agent === MAIN_AGENT;
    if (payload.type === 'turn.started' && isMain) running = { turnId: payload.turnId, promptId: payload.promptId };
    if (payload.type === 'prompt.steered' && payload.promptIds.includes(settling)) {
      settling = payload.activePromptId;
      if (running) running.promptId = settling;
    }
    const isOwnTurn = running?.promptId === settling;
    if (isOwnTurn) number = running?.turnId;
    const isOwn = isOwnTurn && (isMain || subagents.has(agent));
    if (payload.type === 'subagent.spawned' && isOwn) subagents.add(payload.subagentId);
    if (payload.type === 'turn.step.completed' && isOwn && isMain && payload.usage) add(payload.usage);
    if (payload.type === 'hook.result' && payload.blocked === true) failure = payload.content;
    onEvent(frame, isOwn);
    if (payload.type === 'turn.ended' && isMain) {
      if (isOwn) failure = payload.error?.message;
      running = undefined;
    }
    if (payload.type === 'prompt.completed' && payload.promptId === settling) {
      settle({ reason: payload.reason, ...(failure !== undefined && { message: failure }) });
    }
    if (payload.type === 'prompt.aborted' && payload.promptId === settling) {
      settle({ reason: 'cancelled', message: 'the turn was cancelled' });
    }
  }

  function add(step: Usage) {
    usage.inputOther += step.inputOther;
    usage.output += step.output;
    usage.inputCacheRead += step.inputCacheRead;
    usage.inputCacheCreation += step.inputCacheCreation;
  }

  async function subscribe() {
    const { cursors } = await client.socket.request('subscribe', {
      session_ids: [sessionId],
      ...(cursor && { cursors: { [sessionId]: cursor } }),
    });
    cursor ??= cursors[sessionId];
  }

  async function resubscribe() {
    await subscribe();
    // The end may be among the events that the server could not send again.
    if (isAccepted && (await isSettled(client.rest, sessionId, settling))) settle(await endOf(client.rest, sessionId));
  }

  await opened(client.socket);
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
    resubscribe().catch((error: unknown) => {
      // A connection that is lost meanwhile is opened once more.
      if (error instanceof ApiError) lose(error.message);
    });
  });
  return {
    ended,
    accepted: () => void (isAccepted = true),
    promptId: () => settling,
    number: () => number,
    usage: () => usage,
    close() {
      clearTimeout(away);
      offEvents();
      offConnection();
    },
  };
}

/** Rejects with ConnectionError if the socket cannot be opened. */
function opened(socket: Socket): Promise<void> {
  if (socket.connection.kind === 'open') return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new ConnectionError('The server opens no WebSocket'))), AWAY_MS);
    const off = socket.onConnection(({ kind }) => {
      if (kind === 'open') end(resolve);
      if (kind === 'refused' || kind === 'closed')
        end(() => reject(new ConnectionError('The server refuses the token')));
    });
    function end(settle: () => void) {
      clearTimeout(timer);
      off();
      settle();
    }
  });
}

/** Whether a prompt that was accepted is neither active nor queued any more. */
async function isSettled(rest: Rest, session_id: string, promptId: string): Promise<boolean> {
  const { active, queued } = await rest.request('GET /api/v1/sessions/{session_id}/prompts', { path: { session_id } });
  return active?.prompt_id !== promptId && queued.every(({ prompt_id }) => prompt_id !== promptId);
}

/** The outcome of the session's last turn. */
async function endOf(rest: Rest, sessionId: string): Promise<TurnEnd> {
  const { last_turn_reason: reason = 'failed' } = await rest.session(sessionId);
  return reason === 'completed' ? { reason } : { reason, message: `the turn ended meanwhile: ${reason}` };
}

/** The text of the turn's last step. */
export async function answerOf(rest: Rest, sessionId: string, turn: number, signal: AbortSignal): Promise<string> {
  const query = { agent_id: MAIN_AGENT, before_turn: `t${turn + 1}`, page_size: 1 };
  const { items } = await rest.transcript(sessionId, query, { signal });
  const item = items.findLast((each) => each.kind === 'turn' && each.turnId === `t${turn}`);
  const step = item?.kind === 'turn' ? item.steps.at(-1) : undefined;
  return (step?.frames ?? []).map((frame) => (frame.kind === 'text' ? frame.text : '')).join('');
}
