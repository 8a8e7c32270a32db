/**
 * What a feature brings: one folder, one registration. The core iterates over registrations and knows no feature; where
 * the records of several stand on one line, they stand in the order of the list.
 */
import type { EffectiveConfig } from '#server/config/effective.ts';
import type { FrameHandler } from '#server/events/frame-handler.ts';
import type { LogState } from '#server/journal/fold.ts';
import type { FeatureProjection } from '#server/journal/projections/feature-projection.ts';
import type { Draft } from '#server/journal/records.ts';
import type { Text } from '#server/journal/texts.ts';
import type { ModelError } from '#server/models/types.ts';
import type { AddedStep } from '#server/permissions/policy.ts';
import type { ContextMessage, ErrorPayload, ToolCall } from '#schema/engine.ts';
import type { CompactionTrigger } from '#schema/events/compaction.ts';
import type { InterruptReason } from '#schema/events/turns.ts';
import type { StatusFacts } from '#schema/events/volatile.ts';
import type { Snapshot } from '#schema/message.ts';
import type { TurnOutcome } from '#schema/scalars.ts';
import type { AgentConfigRequest, SessionStatus, SessionWarning } from '#schema/session.ts';
import type { PreparedCall, Tool, ToolResult } from '#server/tools/tool.ts';
import type { TranscriptFeature } from '#server/transcript/transcript-rows.ts';
import type { TurnModel } from './agent-config.ts';
import type { StoredResult } from './calls/call-records.ts';
import type { AgentChange, AgentContext, AgentServices, SessionContext, TurnInput } from './context.ts';

/** A feature as the program knows it. */
export interface Feature<Live extends LiveFeature = LiveFeature> extends TranscriptFeature {
  readonly name: string;
  /** Whether the configuration switches it off, so that no session is loaded for it after a start. */
  disabled?(config: EffectiveConfig): boolean;
  readonly projection?: FeatureProjection;
  /** Its members of a session's snapshot, from the fold alone: also of sessions that are not loaded. */
  snapshot?(state: LogState): Partial<Snapshot>;
  /** Its members of a session's status; before an agent's first use they are the defaults. */
  status?(state: LogState, defaults: AgentDefaults): Partial<SessionStatus>;
  /** Handlers of its request frames, which stand in `requestFrames` like those of other domains. */
  frames?(use: UseSession): readonly FrameHandler[];
  /** Its part in a session that is loaded here. */
  open?(session: SessionContext, services: FeatureServices): Live;
}

/**
 * Services that one feature alone works with, each under that feature's name. The feature's folder declares its member;
 * the composition creates it, once for all sessions.
 */
export interface FeatureServices {}

/** What the configuration says of an agent that was never used. */
export type AgentDefaults = Pick<AgentServices, 'config' | 'defaultPermission' | 'defaultLimit'>;

/** Loads the session and keeps it loaded until the work is done. Throws 40401, 50001. */
export type UseSession = <T>(id: string, work: (session: SessionContext) => T | Promise<T>) => Promise<T>;

/** A feature in one loaded session; state that must outlive the process is in the journal. */
export interface LiveFeature {
  /** Asked for each agent and step; equal tools must be the same objects. */
  tools?(agent: AgentContext): readonly Tool[];
  /** What has to be said before the next request. */
  reminders?(agent: AgentContext): ContextMessage[];
  /** Each stands before the step of the permission chain that it names, or before all. */
  readonly permissionSteps?: readonly AddedStep[];
  /** Why a tool that is active cannot be called yet, or nothing; asked before its arguments are looked at. */
  notYet?(agent: AgentContext, tool: Tool): string | undefined;
  /** Looks at a prepared call before permissions are asked. Returns why it may not run, or nothing. */
  guard?(agent: AgentContext, call: GuardedCall): Promise<string | undefined> | string | undefined;
  /** Records of an agent that is used for the first time in this process, with the change that it is used for. */
  agentCreated?(agent: AgentContext, change: AgentChange): Draft[];
  /** What is set of that agent besides, as clients are told then. */
  facts?(agent: AgentContext): StatusFacts;
  /**
   * Applies its members of a profile update to the main agent, behind those of the features in front of it; claims the
   * session before it changes anything.
   */
  configure?(agent: AgentContext, request: AgentConfigRequest): Promise<void>;
  /**
   * A user's prompt is about to open its turn, which waits for what is returned: the session is busy meanwhile, and an
   * abort fires the signal. Nothing, as usual, lets the turn begin at once.
   */
  promptStarts?(
    agent: AgentContext,
    prompt: StartingPrompt,
  ): ((signal: AbortSignal) => Promise<PromptStart>) | undefined;
  /** A turn of the agent has begun; its first step waits for what is returned, which rejects when the signal fires. */
  turnBegins?(agent: AgentContext, signal: AbortSignal): Promise<void> | undefined;
  /**
   * A step is near, and waits for what is returned, which may replace the context. Nothing, as usual, lets it begin at
   * once.
   */
  stepNears?(agent: AgentContext, step: NearStep): Promise<void> | undefined;
  /** The request of a step failed; whether it is too long, so that there will be room for it in front of the next step. */
  overflowed?(agent: AgentContext, failure: FailedRequest): boolean;
  /** The context is about to be compacted, which waits for what is returned. */
  compacting?(agent: AgentContext, context: CompactedContext, signal: AbortSignal): Promise<void> | undefined;
  /** It was compacted. */
  compacted?(agent: AgentContext, context: CompactedContext): void;
  /** What a summary of the agent's conversation has to say of this feature; empty for nothing. */
  summary?(agent: AgentContext): string;
  /**
   * A step's head is written: messages enter it, `before` stands in front of `turn.step.started`, `after` behind it.
   */
  stepBegins?(agent: AgentContext, step: StepHead): { messages?: ContextMessage[]; before?: Draft[]; after?: Draft[] };
  /** What has to enter at the agent's next step: while there is any, its turn does not end as completed. */
  input?(agent: AgentContext): TurnInput[];
  /**
   * The turn would end as completed: messages make it go on for a step. Where there is none the step and its turn end on
   * one line, so a feature that only sometimes objects has it only then.
   */
  mayEnd?(agent: AgentContext, turnId: number, signal: AbortSignal): Promise<ContextMessage[]>;
  /** Records in front of `turn.ended`, and behind it and its `error`; facts that have changed with them. */
  turnEnds?(
    agent: AgentContext,
    turnId: number,
    outcome: TurnOutcome,
    ending: TurnEnding,
  ): { before?: Draft[]; after?: Draft[]; facts?: StatusFacts };
  /** Asked when the calls of a step have their results: whether the turn ends here instead of going on. */
  stopsTurn?(agent: AgentContext, step: StepHead): boolean;
  /** A subagent of this agent is about to get its task, and waits for what is returned. */
  subagentStarts?(
    agent: AgentContext,
    subagent: { name: string; prompt: string },
    signal: AbortSignal,
  ): Promise<void> | undefined;
  /** Its run has ended, with this for its caller. */
  subagentEnded?(agent: AgentContext, subagent: { name: string; response: string }): void;
  /** What a call's result leaves in the journal beside it. */
  callEnds?(agent: AgentContext, call: ToolCall, result: StoredResult): Pick<ToolResult, 'x' | 'records'>;
  /** What the user should know of the session. */
  warnings?(): readonly SessionWarning[];
  /** Members of the snapshot that die with the process. */
  snapshot?(): Partial<Snapshot>;
  /** Records in front of the agent's `agent.disposed`. */
  closing?(agent: AgentContext): Draft[];
  /** Something of it runs, so the session stays loaded. */
  holds?(): boolean;
  /** Something of it is to come, for which the session stays loaded as long as not too many do. */
  keeps?(): boolean;
  /** Too many do, and this one is about to be unloaded. Never rejects. */
  dropped?(): Promise<void>;
  /** The session is unloaded; awaited before its journal closes. */
  release?(reason: UnloadReason): Promise<void>;
}

export type UnloadReason = 'exit' | 'archive' | 'idle';

export interface StartingPrompt {
  id: string;
  text: Text;
}

export interface PromptStart {
  /** Records in front of `turn.started`; of a refused prompt behind its message. */
  records?: Draft[];
  /** The prompt is kept in the context, but opens no turn. */
  refused?: boolean;
}

export interface NearStep {
  turnId: number;
  /** What the turn's requests are made with. */
  frozen: TurnModel;
  /** The turn's. */
  signal: AbortSignal;
}

export interface FailedRequest {
  turnId: number;
  frozen: TurnModel;
  error: ModelError;
}

export interface CompactedContext {
  trigger: CompactionTrigger;
  /** Its size, before or afterwards. */
  tokens: number;
}

export interface StepHead {
  turnId: number;
  step: number;
}

/** How a turn ends. */
export interface TurnEnding {
  /** Why it failed. */
  error?: ErrorPayload;
  /** Absent when it is completed. */
  interruptReason?: InterruptReason;
  /** Records in front of its end on the same line: not folded yet. */
  line: readonly Draft[];
}

/** A call and the batch it stands in. */
export interface GuardedCall {
  call: ToolCall;
  tool: Tool;
  prepared: PreparedCall;
  turnId: number;
  /** All calls of the response, in order. */
  batch: readonly ToolCall[];
  /** Those that are admitted already. */
  admitted: readonly PreparedCall[];
  /** The turn's. */
  signal: AbortSignal;
}
