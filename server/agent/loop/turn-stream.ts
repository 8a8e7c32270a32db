/**
 * The volatile overlay of a turn: deltas with their offsets, phases, running tools. The snapshot's `in_flight_turn` is
 * read from here; nothing is journaled.
 */
import type { Clock } from '#server/clock.ts';
import type { VolatileEvent } from '#server/journal/log-listeners.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { StatusFields } from '#schema/events/volatile.ts';
import type { InFlightTurn, RunningTool } from '#schema/rest/message.ts';
import type { TurnOutcome } from '#schema/scalars.ts';
import type { PreparedCall, ToolProgress } from '#server/tools/tool.ts';
import type { StreamListener } from './model-request.ts';
import type { StatusFrames } from './status-frames.ts';

type StreamKind = 'assistant' | 'thinking' | 'tool_call';
type RetryDetails = {
  failedAttempt: number;
  nextAttempt: number;
  maxAttempts: number;
  delayMs: number;
  errorName: string;
  statusCode?: number;
};

export interface TurnStream {
  readonly listener: StreamListener;
  started(): void;
  beginStep(step: number): void;
  /** Called after usage and context size of a response are folded. */
  responseBooked(): void;
  retrying(facts: RetryDetails): void;
  waiting(approval: { approvalId: string; toolCallId: string } | undefined): void;
  toolStarted(call: { toolCallId: string; name: string; args: unknown; prepared?: PreparedCall | undefined }): void;
  toolProgress(toolCallId: string, update: ToolProgress): void;
  toolEnded(toolCallId: string): void;
  /** Called when the open step, or the turn at its step limit, was cut short. */
  interrupted(reason: 'aborted' | 'max_steps' | 'error'): void;
  /** Sets facts that the turn's end changes; they are published after it. */
  changesAtEnd(facts: StatusFields): void;
  ended(outcome: TurnOutcome): void;
  view(): InFlightTurn;
  /** Published volatile events of the running step that no record contains yet, in order and joined. */
  unrecorded(): VolatileEvent[];
}

export interface TurnStreamDeps {
  agentId: string;
  turnId: number;
  /** Id of the turn's prompt. */
  promptId(): string | undefined;
  log: SessionLog;
  frames: StatusFrames;
  clock: Clock;
}

type StreamedPiece =
  | { type: 'assistant.delta' | 'thinking.delta'; fields: { turnId: number; delta: string } }
  | {
      type: 'tool.call.delta';
      fields: { turnId: number; toolCallId: string; name: string; argumentsPart: string };
    };

interface Stream {
  /** Text of the current step. */
  text: string;
  /** Length of the turn's text before this step. */
  offset: number;
}

/** Creates the overlay of one turn. */
export function createTurnStream(deps: TurnStreamDeps): TurnStream {
  const { agentId, turnId, log, frames } = deps;
  const since = deps.clock.now();
  const assistant: Stream = { text: '', offset: 0 };
  const thinking: Stream = { text: '', offset: 0 };
  const tools = new Map<string, RunningTool & { since: number }>();
  let step = 0;
  /** Deltas of an answer that is not recorded yet. */
  let pieces: StreamedPiece[] = [];
  let announced = new Set<StreamKind>();
  let changed: StatusFields = {};

  const running = () => frames.phase({ kind: 'running', turnId, step, stepId: '', since });

  function streaming(stream: StreamKind): void {
    if (announced.has(stream)) return;
    announced.add(stream);
    frames.phase({ kind: 'streaming', turnId, step, stepId: '', stream, since });
  }

  function delta(type: 'assistant.delta' | 'thinking.delta', stream: Stream, text: string): void {
    // Only deltas of the main agent have offsets.
    const offset = agentId === MAIN_AGENT ? { offset: stream.offset + stream.text.length } : {};
    stream.text += text;
    const last = pieces.at(-1);
    if (last?.type === type) last.fields.delta += text;
    else pieces.push({ type, fields: { turnId, delta: text } });
    log.volatile(agentId, type, { turnId, delta: text }, offset);
  }

  function argument(toolCallId: string, name: string, argumentsPart: string): void {
    const known = pieces.find((piece) => piece.type === 'tool.call.delta' && piece.fields.toolCallId === toolCallId);
    if (known?.type === 'tool.call.delta') known.fields.argumentsPart += argumentsPart;
    else pieces.push({ type: 'tool.call.delta', fields: { turnId, toolCallId, name, argumentsPart } });
    log.volatile(agentId, 'tool.call.delta', { turnId, toolCallId, name, argumentsPart });
  }

  function currentPrompt() {
    const id = deps.promptId();
    return id === undefined ? {} : { current_prompt_id: id };
  }

  return {
    listener: {
      text(text) {
        delta('assistant.delta', assistant, text);
        streaming('assistant');
      },
      thinking(text) {
        delta('thinking.delta', thinking, text);
        streaming('thinking');
      },
      call(toolCallId, name, argumentsPart) {
        argument(toolCallId, name, argumentsPart);
        streaming('tool_call');
      },
    },
    started: running,
    beginStep(next) {
      step = next;
      announced = new Set();
      pieces = [];
      for (const stream of [assistant, thinking]) {
        stream.offset += stream.text.length;
        stream.text = '';
      }
      running();
    },
    responseBooked() {
      pieces = [];
      frames.facts();
    },
    retrying: (facts) => frames.phase({ kind: 'retrying', turnId, step, stepId: '', ...facts, since }),
    waiting(approval) {
      if (approval) frames.phase({ kind: 'awaiting_approval', turnId, step, approval, since: deps.clock.now() });
      else frames.phase({ kind: 'streaming', turnId, step, stepId: '', stream: 'tool_call', since });
    },
    toolStarted({ toolCallId, name, args, prepared }) {
      const started = deps.clock.now();
      tools.set(toolCallId, {
        tool_call_id: toolCallId,
        name,
        args,
        ...(prepared?.label === undefined ? {} : { description: prepared.label }),
        ...(prepared?.display ? { display: prepared.display } : {}),
        since: started,
      });
      frames.phase({ kind: 'tool_call', turnId, step, toolCallId, name, since: started });
    },
    toolProgress(toolCallId, update) {
      const tool = tools.get(toolCallId);
      const { kind, text, percent } = update;
      if (tool && kind !== 'custom') {
        tool.last_progress = {
          kind,
          ...(text === undefined ? {} : { text }),
          ...(percent === undefined ? {} : { percent }),
        };
      }
      log.volatile(agentId, 'tool.progress', { turnId, toolCallId, update });
    },
    toolEnded(toolCallId) {
      tools.delete(toolCallId);
      const newest = [...tools.values()].at(-1);
      if (!newest) running();
      else {
        const { tool_call_id, name, since: started } = newest;
        frames.phase({ kind: 'tool_call', turnId, step, toolCallId: tool_call_id, name, since: started });
      }
    },
    interrupted: (reason) => frames.phase({ kind: 'interrupted', turnId, step, reason, at: deps.clock.now() }),
    changesAtEnd(facts) {
      changed = facts;
    },
    ended(outcome) {
      frames.phase({
        kind: 'ended',
        turnId,
        reason: outcome,
        durationMs: Math.max(0, deps.clock.now() - since),
        at: deps.clock.now(),
      });
      frames.facts(changed);
    },
    unrecorded: () => [
      ...pieces,
      ...[...tools.values()].flatMap(({ tool_call_id: toolCallId, last_progress: update }): VolatileEvent[] =>
        update ? [{ type: 'tool.progress', fields: { turnId, toolCallId, update } }] : [],
      ),
    ],
    view: () => ({
      turn_id: turnId,
      assistant_text: assistant.text,
      assistant_offset: assistant.offset,
      thinking_text: thinking.text,
      thinking_offset: thinking.offset,
      running_tools: [...tools.values()].map(({ since: _since, ...tool }) => tool),
      ...currentPrompt(),
    }),
  };
}
