/** The prompts that the editor has sent and whose end it waits for. */
import { ApiError, MAIN_AGENT, type Item, type TranscriptPrompt, type TranscriptState } from '@service-code/client';
import type { RequestError } from '@agentclientprotocol/sdk';
import { textOf } from './commands.ts';
import { refusal, runningTurn, turnOutcome, type Outcome } from './stop-reason.ts';

type Turn = Extract<Item, { kind: 'turn' }>;
type Agents = ReadonlyMap<string, TranscriptState>;

export interface PromptRequest {
  /** Id of the prompt; undefined for a command, whose entry or turn is found by its text. */
  id: string | undefined;
  /** Its text, as the transcript has it. */
  text: string;
  /** Sends it to the server; the signal aborts when it is cancelled before that. */
  submit(signal: AbortSignal): Promise<{ hasEnded: boolean }>;
  /**
   * Cancels the prompt with this id on the server, without one the running turn. Rejects with ApiError when it has
   * ended, and when the server cannot be reached.
   */
  abort(id: string | undefined): Promise<void>;
}

export interface Prompts {
  /** Sends a prompt and resolves when it has ended; rejects when it is not accepted. */
  run(request: PromptRequest, signal: AbortSignal): Promise<Outcome>;
  /** Cancels all prompts that have not ended. */
  cancel(): void;
  /** Ends all prompts as cancelled. */
  close(): void;
  /** Fails all prompts that have not ended. */
  fail(error: RequestError): void;
  /** Call it after each change of the transcript. */
  changed(): void;
  isOwn(turn: Turn): boolean;
  isOwnText(text: string, turn: Turn): boolean;
}

interface Waiting {
  request: PromptRequest;
  /** Id of the prompt; that of a command is known when its entry arrives. */
  id: string | undefined;
  /** Entries that are older than the request. */
  older: ReadonlySet<string>;
  isSubmitted: boolean;
  unsent: AbortController;
  isCancelled: boolean;
  /** Whether the transcript has or had an entry of the prompt; after a resync it lacks those that have ended. */
  wasSeen: boolean;
  /** Whether another client has put it into a running turn. */
  isSteered: boolean;
  turnId: string | undefined;
  settle(outcome: Outcome): void;
}

export function createPrompts(agents: Agents): Prompts {
  const waiting = new Set<Waiting>();
  const ownTurns = new Set<string>();
  /** The last turn into which prompts were put, with their texts: it is displayed after its end has settled them. */
  let steered: { turnId: string; texts: string[] } | undefined;
  /** The highest ordinal of the turns whose sender was determined. */
  let lastOrdinal = -1;

  function assignTurns(state: TranscriptState): void {
    const at = state.items.findLastIndex((item) => item.kind === 'turn' && item.ordinal <= lastOrdinal);
    for (const item of state.items.slice(at + 1)) {
      if (item.kind !== 'turn') continue;
      lastOrdinal = item.ordinal;
      const own = [...waiting].find((one) => one.turnId === undefined && hasOpened(one.request, item, state));
      if (!own) continue;
      own.turnId = item.turnId;
      ownTurns.add(item.turnId);
    }
  }

  /** The outcome of a prompt that has ended. */
  function outcomeOf(one: Waiting, state: TranscriptState): Outcome | undefined {
    const { id } = one;
    if (id === undefined || one.isSteered) return one.turnId === undefined ? undefined : turnOutcome(state, one.turnId);
    const entry = state.prompts.get(id);
    if (!entry) return one.wasSeen ? turnOutcome(state, one.turnId) : undefined;
    one.wasSeen = true;
    return ended(entry, one, state);
  }

  function ended(entry: TranscriptPrompt, one: Waiting, state: TranscriptState): Outcome | undefined {
    switch (entry.status) {
      case 'running':
      case 'queued':
        return undefined;
      case 'blocked':
        return refusal(state);
      case 'aborted':
        return { stopReason: 'cancelled' };
      case 'failed':
        return turnOutcome(state, one.turnId ?? lastTurn(state));
      case 'completed':
        if (one.turnId !== undefined || entry.steeredAt === undefined) return { stopReason: 'end_turn' };
        one.isSteered = true;
        one.turnId = runningTurn(agents);
        keepText(one, one.turnId ?? lastTurn(state));
        return one.turnId === undefined ? { stopReason: 'end_turn' } : undefined;
    }
  }

  function keepText({ request }: Waiting, turnId: string | undefined): void {
    if (turnId === undefined) return;
    if (steered?.turnId !== turnId) steered = { turnId, texts: [] };
    steered.texts.push(request.text);
  }

  /** Finds the entry of a command, which has opened a turn, was put into a running one, or is queued. */
  function adoptEntry(one: Waiting, state: TranscriptState): void {
    if (one.id !== undefined) return;
    const taken = new Set([...waiting].map(({ id }) => id));
    for (const { promptId, content = [] } of state.prompts.values()) {
      if (one.older.has(promptId) || taken.has(promptId) || textOf(content) !== one.request.text) continue;
      one.id = promptId;
      return;
    }
  }

  function check(one: Waiting): void {
    const state = agents.get(MAIN_AGENT);
    if (state) adoptEntry(one, state);
    const outcome = state && one.isSubmitted ? outcomeOf(one, state) : undefined;
    if (outcome) one.settle(outcome);
  }

  async function abort(one: Waiting): Promise<void> {
    try {
      await one.request.abort(one.isSteered ? undefined : one.id);
    } catch (error) {
      // The transcript reports how it has ended, unless it was read again since then.
      const isKnown = one.id !== undefined && agents.get(MAIN_AGENT)?.prompts.has(one.id);
      if (!(error instanceof ApiError) || !isKnown) one.settle({ stopReason: 'cancelled' });
    }
  }

  function cancelOne(one: Waiting): void {
    if (one.isCancelled) return;
    one.isCancelled = true;
    if (one.isSubmitted) void abort(one);
    else one.unsent.abort();
  }

  return {
    async run(request, signal) {
      let settle: (outcome: Outcome) => void = () => {};
      const settled = new Promise<Outcome>((resolve) => (settle = resolve));
      const one: Waiting = {
        request,
        id: request.id,
        older: new Set(agents.get(MAIN_AGENT)?.prompts.keys()),
        isSubmitted: false,
        unsent: new AbortController(),
        isCancelled: false,
        wasSeen: false,
        isSteered: false,
        turnId: undefined,
        settle,
      };
      const onAbort = () => cancelOne(one);
      signal.addEventListener('abort', onAbort);
      waiting.add(one);
      try {
        const { hasEnded } = await request.submit(one.unsent.signal);
        one.isSubmitted = true;
        one.wasSeen ||= hasEnded;
        if (one.isCancelled) void abort(one);
        check(one);
        const outcome = await settled;
        // The editor expects this reply after it has cancelled, even if the turn ended first.
        return one.isCancelled ? { stopReason: 'cancelled' } : outcome;
      } catch (error) {
        if (one.isCancelled) return { stopReason: 'cancelled' };
        throw error;
      } finally {
        waiting.delete(one);
        signal.removeEventListener('abort', onAbort);
      }
    },
    cancel: () => waiting.forEach(cancelOne),
    close: () => waiting.forEach((one) => one.settle({ stopReason: 'cancelled' })),
    fail: (error) => waiting.forEach((one) => one.settle({ error })),
    changed() {
      const state = agents.get(MAIN_AGENT);
      if (!state) return;
      assignTurns(state);
      for (const one of waiting) check(one);
    },
    isOwn: ({ turnId }) => ownTurns.has(turnId),
    isOwnText(text, { turnId }) {
      const kept = steered?.turnId === turnId ? steered.texts : [];
      const own = [...kept, ...[...waiting].map(({ request }) => request.text)];
      return own.some((one) => one !== '' && text.includes(one));
    },
  };
}

function lastTurn(state: TranscriptState): string | undefined {
  const last = state.items.findLast((item) => item.kind === 'turn');
  return last?.kind === 'turn' ? last.turnId : undefined;
}

/** Whether a prompt without a turn has opened this one: it is the running prompt, or has the same text. */
function hasOpened({ id, text }: PromptRequest, { origin, prompt = '' }: Turn, state: TranscriptState): boolean {
  if (id === undefined) return text === prompt;
  return origin.kind === 'user' && (state.prompts.get(id)?.status === 'running' || text === prompt);
}
