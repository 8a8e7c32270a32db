/**
 * Contract of a feature: one folder, one registration. The core iterates over the registrations without naming a
 * feature; records of several features in one journal line follow the order of the list.
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
import type { StatusFields } from '#schema/events/volatile.ts';
import type { Snapshot } from '#schema/rest/message.ts';
import type { TurnOutcome } from '#schema/scalars.ts';
import type { McpServerInput } from '#schema/config/mcp-server.ts';
import type { AgentConfigRequest, SessionStatus, SessionWarning } from '#schema/rest/session.ts';
import type { PreparedCall, Tool, ToolResult } from '#server/tools/tool.ts';
import type { TranscriptFeature } from '#server/transcript/transcript-rows.ts';
import type { AgentContext, SessionContext, TurnInput } from './context.ts';
import type { PromptSections } from '../prompt/system-prompt.ts';
import type { TurnModel, AgentChange } from './config.ts';
import type { StoredResult } from './calls.ts';
import type { AgentServices } from './services.ts';

/** A feature as it is registered. */
export interface Feature<Live extends LiveFeature = LiveFeature> extends TranscriptFeature {
  readonly name: string;
  /** Whether the configuration switches it off, so that no session is loaded for it after a start. */
  disabled?(config: EffectiveConfig): boolean;
  readonly projection?: FeatureProjection;
  /**
   * The feature's members of a session's snapshot, from the fold only, so that sessions that are not loaded have them.
   */
  snapshot?(state: LogState): Partial<Snapshot>;
  /** The feature's members of a session's status, from `defaults` before an agent's first use. */
  status?(state: LogState, defaults: AgentDefaults): Partial<SessionStatus>;
  /** Handlers of its request frames, which are declared in `requestFrames` like those of other domains. */
  frames?(use: UseSession): readonly FrameHandler[];
  /** Creates its instance for a session that is loaded in this process. */
  open?(session: SessionContext, services: FeatureServices): Live;
}

/**
 * Services that only one feature uses, each under that feature's name. The feature's folder declares its member; the
 * composition root creates it, a single time for all sessions.
 */
export interface FeatureServices {}

/** Configured defaults of an agent that was never used. */
export type AgentDefaults = Pick<AgentServices, 'config' | 'defaultPermission' | 'defaultLimit'>;

/** Loads the session and keeps it loaded until `work` settles. Throws `session.not_found`, `internal.error`. */
export type UseSession = <T>(id: string, work: (session: SessionContext) => T | Promise<T>) => Promise<T>;

/** A feature in one loaded session; state that must survive the process is stored in the journal. */
export interface LiveFeature {
  /** Called for each agent and step; returns identical objects for unchanged tools. */
  tools?(agent: AgentContext): readonly Tool[];
  /**
   * Called at an agent's first rendering of its system prompt with the names of its active tools. The sections are
   * stored, and later renderings of the agent reuse them.
   */
  promptSections?(agent: AgentContext, activeTools: ReadonlySet<string>): Promise<NewSections>;
  /** Called before each step; returns reminders for the next request. */
  reminders?(agent: AgentContext): ContextMessage[];
  /** Steps added to the permission chain, each before the step that it names, or before all. */
  readonly permissionSteps?: readonly AddedStep[];
  /** Called before the arguments of an active tool are checked. Returns why it cannot be called yet, or undefined. */
  toolUnavailable?(agent: AgentContext, tool: Tool): string | undefined;
  /** Called before the permission check of a prepared call. Returns why the call may not run, or undefined. */
  beforeToolCall?(agent: AgentContext, call: GuardedCall): Promise<string | undefined> | string | undefined;
  /** Called when an agent is first used in this process, for this change; returns records of its creation. */
  onAgentCreated?(agent: AgentContext, change: AgentChange): Draft[];
  /** The feature's members of the agent's status that are published after the agent was created. */
  statusFields?(agent: AgentContext): StatusFields;
  /**
   * Applies its members of a profile update to the main agent, after the features that precede it; claims the session
   * before it changes anything.
   */
  configure?(agent: AgentContext, request: AgentConfigRequest): Promise<void>;
  /** Called when a client replaces its list of MCP servers, which is held in memory until the session is unloaded. */
  onClientServers?(servers: readonly McpServerInput[]): void;
  /** Whether `configure` may open a turn: an agent without a profile is bound to the default model before it. */
  opensTurn?(request: AgentConfigRequest): boolean;
  /**
   * Called before a user's prompt opens its turn, which waits for the returned function: the session is busy meanwhile,
   * and an abort fires the signal. Undefined, the usual result, starts the turn immediately.
   */
  beforePrompt?(
    agent: AgentContext,
    prompt: StartingPrompt,
  ): ((signal: AbortSignal) => Promise<PromptStart>) | undefined;
  /** Called after a turn has started; its first step waits for the promise, which rejects when the signal fires. */
  onTurnStart?(agent: AgentContext, signal: AbortSignal): Promise<void> | undefined;
  /**
   * Called before each step, which waits for the returned promise; the hook may replace the context. Undefined, the
   * usual result, starts the step immediately.
   */
  beforeStep?(agent: AgentContext, step: NearStep): Promise<void> | undefined;
  /** Called after a step's request failed. Returns whether the context is too long and will be reduced. */
  onContextOverflow?(agent: AgentContext, failure: FailedRequest): boolean;
  /** Called before the context is compacted, which waits for the returned promise. */
  beforeCompact?(agent: AgentContext, context: CompactedContext, signal: AbortSignal): Promise<void> | undefined;
  /** Called after the context was compacted. */
  afterCompact?(agent: AgentContext, context: CompactedContext): void;
  /** Text about this feature for a summary of the agent's conversation; empty for none. */
  summary?(agent: AgentContext): string;
  /** Called when a step's head is appended: `messages` enter, `before` and `after` surround `turn.step.started`. */
  onStepStart?(agent: AgentContext, step: StepHead): { messages?: ContextMessage[]; before?: Draft[]; after?: Draft[] };
  /** Input that must enter at the agent's next step: while there is any, the turn does not end as completed. */
  pendingInput?(agent: AgentContext): TurnInput[];
  /**
   * Called before a turn ends as completed; returned messages make it continue for another step. Without this hook the
   * step and its turn end in one journal line, so a feature defines it only while it may object.
   */
  beforeTurnEnd?(agent: AgentContext, turnId: number, signal: AbortSignal): Promise<ContextMessage[]>;
  /** Called when a turn ends. Returns records before `turn.ended`, records after its `error`, and changed facts. */
  onTurnEnd?(
    agent: AgentContext,
    turnId: number,
    outcome: TurnOutcome,
    ending: TurnEnding,
  ): { before?: Draft[]; after?: Draft[]; facts?: StatusFields };
  /** Called after the calls of a step have their results. Returns whether the turn stops instead of continuing. */
  shouldStopTurn?(agent: AgentContext, step: StepHead): boolean;
  /** Called before a subagent of this agent receives its task, which waits for the returned promise. */
  beforeSubagent?(
    agent: AgentContext,
    subagent: { name: string; prompt: string },
    signal: AbortSignal,
  ): Promise<void> | undefined;
  /** Called after the subagent's run has ended, with its response to the caller. */
  onSubagentEnd?(agent: AgentContext, subagent: { name: string; response: string }): void;
  /** Called after a tool call. Returns journal fields and records in addition to its result. */
  afterToolCall?(agent: AgentContext, call: ToolCall, result: StoredResult): Pick<ToolResult, 'x' | 'records'>;
  /** Warnings about the session for the user. */
  warnings?(): readonly SessionWarning[];
  /** Members of the snapshot that are not journaled and are lost when the process exits. */
  snapshot?(): Partial<Snapshot>;
  /** Called when the agent is closed; returns records before its `agent.disposed`. */
  onAgentClose?(agent: AgentContext): Draft[];
  /** Whether an operation of the feature is running, for which the session must stay loaded. */
  isBusy?(): boolean;
  /** Whether the feature has scheduled work, for which the session stays loaded unless too many sessions do. */
  wantsLoaded?(): boolean;
  /** Called before the session is evicted although it has scheduled work. Never rejects. */
  onEvict?(): Promise<void>;
  /** Called when the session is unloaded; awaited before its journal closes. */
  onUnload?(reason: UnloadReason): Promise<void>;
}

/** Sections of a system prompt, and warnings about what they omit. */
export interface NewSections extends Partial<PromptSections> {
  warnings?: readonly SessionWarning[];
}

export type UnloadReason = 'exit' | 'archive' | 'idle';

export interface StartingPrompt {
  id: string;
  text: Text;
}

export interface PromptStart {
  /** Records before `turn.started`; those of a refused prompt follow its message. */
  records?: Draft[];
  /** The prompt stays in the context, but opens no turn. */
  refused?: boolean;
}

export interface NearStep {
  turnId: number;
  /** Model, settings and system prompt of the turn's requests. */
  frozen: TurnModel;
  /** The turn's signal. */
  signal: AbortSignal;
}

export interface FailedRequest {
  turnId: number;
  frozen: TurnModel;
  error: ModelError;
}

export interface CompactedContext {
  trigger: CompactionTrigger;
  /** Size of the context, before or after the compaction. */
  tokens: number;
}

export interface StepHead {
  turnId: number;
  step: number;
}

/** Cause and records of a turn's end. */
export interface TurnEnding {
  /** Present if the turn failed. */
  error?: ErrorPayload;
  /** Undefined for a completed turn. */
  interruptReason?: InterruptReason;
  /** Records before the turn's end in the same journal line: not folded yet. */
  line: readonly Draft[];
}

/** A prepared call and its batch. */
export interface GuardedCall {
  call: ToolCall;
  tool: Tool;
  prepared: PreparedCall;
  turnId: number;
  /** All calls of the response, in order. */
  batch: readonly ToolCall[];
  /** Calls of the batch that were already admitted. */
  admitted: readonly PreparedCall[];
  /** The turn's signal. */
  signal: AbortSignal;
}
