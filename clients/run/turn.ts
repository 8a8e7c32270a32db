/** Follows one prompt of a session by its events, to its end. */
import {
  ApiError,
  ConnectionError,
  MAIN_AGENT,
  reasonOf,
  type Approval,
  type Client,
  type EventFrame,
  type Item,
  type Prompt,
  type Question,
  type Rest,
  type Socket,
} from '@service-code/client';
import { createDeliveredEvents } from './delivered-events.ts';
import type { EndReason } from './exit-codes.ts';

/** The run ends when the server was away for so long. */
const AWAY_MS = 15_000;
/** Until missed events are read again after a failure. */
const RETRY_MS = 1_000;
/** Turns among which the prompt's is found after its events were missed. */
const RECENT_TURNS = 20;

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

const CANCELLED: TurnEnd = { reason: 'cancelled', message: 'the turn was cancelled' };

type TurnItem = Extract<Item, { kind: 'turn' }>;

export interface Turn {
  /** Resolves when the prompt has settled. */
  readonly ended: Promise<TurnEnd>;
  /** To be called when the server has replied to the prompt, with the reply. */
  accepted(prompt: Pick<Prompt, 'status'>): void;
  /** Id of the prompt that settles: another one after this one was steered into its turn. */
  promptId(): string;
  /** Number of the main agent's turn; undefined before it starts. */
  number(): number | undefined;
  usage(): Usage;
  close(): void;
}

export interface PendingRequests {
  approvals: Approval[];
  questions: Question[];
}

export interface FollowOptions {
  sessionId: string;
  promptId: string;
  /** The text of the prompt. */
  text: string;
  /** Whether the events are read from the first one on. */
  isNew: boolean;
  /** `isOwn`: the event belongs to the prompt's turn or to a subagent of it, and the turn runs. */
  onEvent(frame: EventFrame, isOwn: boolean): void;
  /** Requests of the prompt's turn that wait for an answer: their events may have been missed. */
  onPending(requests: PendingRequests): void;
}

/** Subscribes to the session; resolves when its events are delivered, each once. */
export async function followPrompt(client: Client, options: FollowOptions): Promise<Turn> {
  const { sessionId, text, isNew, onEvent, onPending } = options;
  const { rest, socket } = client;
  let settling = options.promptId;
  let running: { turnId: number; promptId: string | undefined } | undefined;
  let number: number | undefined;
  let failure: string | undefined;
  let reply: Pick<Prompt, 'status'> | undefined;
  let hasMissed = false;
  const delivered = createDeliveredEvents(isNew ? { seq: 0 } : undefined);
  const subagents = new Set<string>();
  const usage: Usage = { inputOther: 0, output: 0, inputCacheRead: 0, inputCacheCreation: 0 };
  let settle: (end: TurnEnd) => void = () => undefined;
  const ended = new Promise<TurnEnd>((resolve) => (settle = resolve));

  function onFrame(frame: EventFrame) {
    if (frame.session_id !== sessionId || delivered.isRepeated(frame)) return;
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
      settle(CANCELLED);
    }
  }

  function add(step: Usage) {
    usage.inputOther += step.inputOther;
    usage.output += step.output;
    usage.inputCacheRead += step.inputCacheRead;
    usage.inputCacheCreation += step.inputCacheCreation;
  }

  let retry: ReturnType<typeof setTimeout> | undefined;
  const lose = (message: string) => settle({ reason: 'unreachable', message });

  async function subscribe() {
    const { cursor } = delivered;
    const { cursors } = await socket.request('subscribe', {
      session_ids: [sessionId],
      ...(cursor && { cursors: { [sessionId]: cursor } }),
    });
    const reached = cursors[sessionId];
    if (reached) delivered.reached(reached);
  }

  /** Reads from the snapshot what the missed events contained. */
  async function recover() {
    const snapshot = await rest.request('GET /api/v1/sessions/{session_id}/snapshot', {
      path: { session_id: sessionId },
    });
    const turn = snapshot.in_flight_turn;
    if (turn) running = { turnId: turn.turn_id, promptId: turn.current_prompt_id };
    if (turn && running?.promptId === settling) {
      number = turn.turn_id;
      for (const { id } of snapshot.subagents) subagents.add(id);
      const isOwn = ({ agent_id = MAIN_AGENT }: { agent_id?: string }) =>
        agent_id === MAIN_AGENT || subagents.has(agent_id);
      onPending({
        approvals: snapshot.pending_approvals.filter(isOwn),
        questions: snapshot.pending_questions.filter(isOwn),
      });
    }
    if (await isSettled(rest, sessionId, settling)) settle(await missedEnd());
  }

  /** The outcome of the prompt by its turn in the transcript. */
  async function missedEnd(): Promise<TurnEnd> {
    const turns = await turnsOf(rest, sessionId, RECENT_TURNS);
    const own = turns.find((turn) =>
      number === undefined ? turn.ordinal > lastBefore && isOf(turn, text) : turn.ordinal === number,
    );
    if (!own) return reply?.status === 'blocked' ? { reason: 'blocked' } : CANCELLED;
    number = own.ordinal;
    if (own.state === 'completed') return { reason: 'completed' };
    return own.state === 'failed' ? { reason: 'failed', message: own.error ?? 'the turn has failed' } : CANCELLED;
  }

  function catchUp() {
    // Until the server has replied to the prompt, nothing of it can be found.
    hasMissed = !reply;
    if (hasMissed) return;
    clearTimeout(retry);
    recover().catch((error: unknown) => {
      // A connection of the socket that is lost meanwhile is opened once more, but requests have connections of their own.
      if (error instanceof ConnectionError) retry = setTimeout(catchUp, RETRY_MS);
      else lose(reasonOf(error));
    });
  }

  await opened(socket);
  const offEvents = socket.onEvent(onFrame);
  const offResync = socket.on('resync_required', ({ payload: { session_id, current_seq: seq, epoch } }) => {
    if (session_id !== sessionId) return;
    delivered.reached({ seq, ...(epoch !== undefined && { epoch }) });
    catchUp();
  });
  await subscribe();
  const lastBefore = isNew ? -1 : ((await turnsOf(rest, sessionId, 1)).at(-1)?.ordinal ?? -1);
  let away: ReturnType<typeof setTimeout> | undefined;
  // The client opens a connection that was lost again.
  const offConnection = socket.onConnection(({ kind }) => {
    if (kind === 'refused') lose('the server refuses the token');
    if (kind === 'waiting') {
      delivered.lost();
      away ??= setTimeout(() => lose('the server does not answer any more'), AWAY_MS);
    }
    if (kind !== 'open') return;
    clearTimeout(away);
    away = undefined;
    subscribe().then(catchUp, (error: unknown) => {
      // A connection that is lost meanwhile is opened once more.
      if (error instanceof ApiError) lose(error.message);
    });
  });
  return {
    ended,
    accepted(prompt) {
      reply = prompt;
      if (hasMissed) catchUp();
    },
    promptId: () => settling,
    number: () => number,
    usage: () => usage,
    close() {
      clearTimeout(away);
      clearTimeout(retry);
      offEvents();
      offResync();
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

/** The last turns of the session that are kept, oldest first. */
async function turnsOf(rest: Rest, sessionId: string, count: number): Promise<TurnItem[]> {
  const { items } = await rest.transcript(sessionId, { agent_id: MAIN_AGENT, page_size: count });
  return items.filter((item) => item.kind === 'turn');
}

/** Whether a prompt with this text has opened the turn; the turn may have the beginning of a long text. */
const isOf = ({ origin, prompt = '' }: TurnItem, text: string): boolean =>
  origin.kind === 'user' && prompt !== '' && text.startsWith(prompt);

/** The text of the turn's last step. */
export async function answerOf(rest: Rest, sessionId: string, turn: number, signal: AbortSignal): Promise<string> {
  const query = { agent_id: MAIN_AGENT, before_turn: `t${turn + 1}`, page_size: 1 };
  const { items } = await rest.transcript(sessionId, query, { signal });
  const item = items.findLast((each) => each.kind === 'turn' && each.turnId === `t${turn}`);
  const step = item?.kind === 'turn' ? item.steps.at(-1) : undefined;
  return (step?.frames ?? []).map((frame) => (frame.kind === 'text' ? frame.text : '')).join('');
}
