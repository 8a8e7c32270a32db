/** An agent's transcript as the mapper maintains it: the reduced state, and what is needed to number new items. */
import type { CutPoint } from '#server/journal/cut-points.ts';
import type { UsageState } from '#server/journal/projections/usage.ts';
import type { Attachment, EventRecord } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { iso } from '#schema/scalars.ts';
import type { RosterEntry } from '#schema/rest/transcript.ts';
import { boundedPayload } from './bounds.ts';
import { sameValue } from './reducer/equal.ts';
import {
  emptyTranscript,
  type StoredFrame,
  type StoredOp,
  type StoredState,
  type StoredStep,
  type StoredToolFrame,
  type StoredTurn,
} from './reducer/state.ts';

/** A message that enters at the agent's next step. */
export interface Entered {
  message: Stored<ContextMessage>;
  attachments: readonly Stored<Attachment>[];
  /**
   * Number of its record, and of the record of the step that included it; set while an undo may remove only the step.
   */
  at: number;
  takenAt?: number;
  /** The text of the step. */
  text?: string | object;
}

export interface TranscriptCutPoint extends CutPoint {
  /** Checkpoints of the features (`TranscriptUndo`), in their order; only of a message that opened a turn. */
  saved?: readonly unknown[];
}

export interface AgentTranscript {
  readonly id: string;
  readonly sessionId: string;
  /** All agents of the session. */
  readonly roster: Map<string, RosterEntry>;
  readonly state: StoredState;
  /** Numbers assigned so far: markers of the agent, attachments of its newest turn, user frames of its newest step. */
  markers: number;
  attachments: number;
  userFrames: number;
  entered: Entered[];
  /** Number of records folded so far, and by item or step the one that created it; no entry for a compacted past. */
  records: number;
  readonly madeAt: Map<string, number>;
  /** In the order of the context. */
  cutPoints: TranscriptCutPoint[];
  /** Set between the splice of an undo and its end. */
  undoing: { start: number; tokens: number } | undefined;
  /** Texts of notifications of background tasks, by task, until they enter. */
  notices: Map<string, string>;
  /** The current context limit; null is unknown. */
  limit: number | null | undefined;
  /** Tokens used. */
  usage: UsageState;
  /** State of the newest step's stream; empty for an agent that is only folded. */
  stream: StreamState;
  /** Whether any of its records had operations. */
  begun: boolean;
  /** Whether it is kept up to date for readers: process-local values are then part of the state. */
  live: boolean;
}

export interface StreamState {
  /** Number of text frames begun, and the kind of the newest. */
  frames: number;
  kind: 'text' | 'thinking' | undefined;
  /** Frames whose text has grown since it was last sent as a whole. */
  grown: Set<string>;
}

export const noStream = (): StreamState => ({ frames: 0, kind: undefined, grown: new Set() });

export const newAgentTranscript = (
  { sessionId, roster, live }: Pick<AgentTranscript, 'sessionId' | 'roster' | 'live'>,
  id: string,
): AgentTranscript => ({
  id,
  sessionId,
  roster,
  state: emptyTranscript(),
  markers: 0,
  attachments: 0,
  userFrames: 0,
  entered: [],
  records: 0,
  madeAt: new Map(),
  cutPoints: [],
  undoing: undefined,
  notices: new Map(),
  limit: undefined,
  usage: new Map(),
  stream: noStream(),
  begun: false,
  live,
});

export const turnIdOf = (turnId: number): string => `t${turnId}`;

/** The running turn. */
export function openTurn({ state }: AgentTranscript): StoredTurn | undefined {
  const turn = state.items.findLast((item) => item.kind === 'turn');
  return turn?.state === 'running' ? turn : undefined;
}

/** The step that runs or waits for its retry. */
export function openStep(agent: AgentTranscript): StoredStep | undefined {
  const step = openTurn(agent)?.steps.at(-1);
  return step?.state === 'running' ? step : undefined;
}

export interface FoundFrame<Frame extends StoredFrame> {
  turnId: string;
  stepId: string;
  frame: Frame;
}

/** The frame of a tool call, newest turn first. */
export function findTool({ state }: AgentTranscript, toolCallId: string): FoundFrame<StoredToolFrame> | undefined {
  for (let at = state.items.length - 1; at >= 0; at -= 1) {
    const turn = state.items[at];
    if (turn?.kind !== 'turn') continue;
    for (let last = turn.steps.length - 1; last >= 0; last -= 1) {
      const step = turn.steps[last];
      for (const frame of step?.frames ?? []) {
        if (frame.kind !== 'tool' || frame.toolCallId !== toolCallId || !step) continue;
        return { turnId: turn.turnId, stepId: step.stepId, frame };
      }
    }
  }
  return undefined;
}

/** The operation that changes the frame of a call; none without such a frame. */
export function toolOps(agent: AgentTranscript, toolCallId: string, change: Partial<StoredToolFrame>): StoredOp[] {
  const found = findTool(agent, toolCallId);
  if (!found) return [];
  const { turnId, stepId, frame } = found;
  return [{ op: 'frame.upsert', turnId, stepId, frame: { ...frame, ...change } }];
}

/** A marker at the end of the timeline. */
export function markerOp(
  agent: AgentTranscript,
  marker: string,
  payload: Record<string, unknown>,
  t: number,
): StoredOp {
  agent.markers += 1;
  return {
    op: 'marker.upsert',
    item: { kind: 'marker', markerId: `m${agent.markers}`, marker, payload: boundedPayload(payload), at: iso(t) },
  };
}

/** The fields of an event as in its frame, without type, time and session. */
export function eventFields(record: EventRecord): Record<string, unknown> {
  const { seq: _seq, agent, type: _type, x: _x, ...fields } = record;
  return { ...fields, agentId: agent };
}

export type AgentMeta = NonNullable<StoredState['meta']['agent']>;

/** Returns the operation with the facts that changed, and with the context usage derived from them. */
export function agentMeta(agent: AgentTranscript, facts: AgentMeta): StoredOp[] {
  const known = agent.state.meta.agent ?? {};
  const contextTokens = facts.contextTokens ?? known.contextTokens;
  const { limit } = agent;
  const changed: AgentMeta = {};
  let any = false;
  function tell<K extends keyof AgentMeta>(name: K, value: AgentMeta[K]): void {
    if (sameValue(value, known[name])) return;
    changed[name] = value;
    any = true;
  }
  for (const name in facts) if (isFact(facts, name)) tell(name, facts[name]);
  if (contextTokens !== undefined && limit) tell('contextUsage', Math.min(1, contextTokens / limit));
  return any ? [{ op: 'meta.merge', meta: { agent: changed } }] : [];
}

const isFact = (facts: AgentMeta, name: string): name is keyof AgentMeta => name in facts;

/** The sum of the steps' usage, in the form of a turn's. */
export function turnUsage(steps: readonly StoredStep[]): StoredTurn['usage'] {
  const sum = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
  let any = false;
  for (const { usage } of steps) {
    if (!usage) continue;
    any = true;
    sum.inputTokens += usage.inputOther + usage.inputCacheCreation;
    sum.cachedTokens += usage.inputCacheRead;
    sum.outputTokens += usage.output;
  }
  return any ? sum : undefined;
}
