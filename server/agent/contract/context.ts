/** Contexts that the agent loop, tool calls and features receive. */
import type { Clock } from '#server/clock.ts';
import type { ConfigReader } from '#server/config/config.ts';
import type { Approvals } from '#server/interactions/approvals.ts';
import type { Interactions } from '#server/interactions/interactions.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import type { ContextState } from '#server/journal/projections/context.ts';
import type { Attachment, Draft } from '#server/journal/records.ts';
import type { ModelErrorCode } from '#server/models/types.ts';
import type { Tasks } from '#server/tasks/tasks.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import type { StatusFields } from '#schema/events/volatile.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { Feature, LiveFeature } from './feature.ts';
import type { AgentConfig } from './config.ts';
import type { AgentTools } from './tools.ts';
import type { RepeatGuard } from './calls.ts';
import type { Roster } from './agent.ts';
import type { AgentServices } from './services.ts';

/** Identity and directories of a session. */
export interface SessionLocation {
  id: string;
  workspaceId: string;
  cwd: string;
  /** The session's data folder. */
  dir: string;
  /** Data folders of the sessions that it was copied from. */
  readonly ancestorDirs?: readonly string[];
  /** Directories that a client has added to this session, absolute. */
  readonly clientDirs?: () => readonly string[];
}

/** A loaded session as its agents and features see it. */
export interface SessionContext extends SessionLocation {
  readonly log: SessionLog;
  readonly interactions: Interactions;
  readonly approvals: Approvals;
  readonly tasks: Tasks;
  readonly services: AgentServices;
  /** Read at each use. A feature reads its section and applies the defaults that are in the feature's folder. */
  readonly config: ConfigReader;
  /** In the order of the feature list. */
  readonly features: readonly LiveFeature[];
  /** The agents of the session; available after the session was opened. */
  readonly agents: Roster;
  /** The instance of a feature in this session. */
  feature<Live extends LiveFeature>(feature: Feature<Live>): Live;
  readonly clock: Clock;
  /** Calls `AgentContext.wake` of an agent of this session; no effect if there is no such agent. */
  wake(agentId: string, next: () => TurnRequest | undefined): void;
  /** Replaces the directories that a client has added. They are held in memory until the session is unloaded. */
  setClientDirs(dirs: readonly string[]): void;
  /** Whether the session is archived: scheduled work waits until it is restored. */
  archived(): boolean;
  /** Called after a turn has ended or a prompt was accepted, so that the session's index row and files are updated. */
  changed(): void;
  /** Called after the permission mode of an agent changed; a subagent that follows main is part of main's change. */
  modeChanged(mode: PermissionMode, by: Caller | undefined): void;
  /** Logs an error that cannot be sent to a client. */
  report(what: string, error: unknown): void;
}

/** An agent as the loop, its calls and features see it. */
export interface AgentContext {
  readonly id: string;
  readonly session: SessionContext;
  readonly log: SessionLog;
  readonly config: AgentConfig;
  /** Counts repeated calls within a turn. */
  readonly repeats: RepeatGuard;
  /** The agent's context in the journal's fold. */
  state(): ContextState;
  tools(): AgentTools;
  environment(): ToolEnvironment;
  /** Publishes facts that have changed; called after the records that changed them are appended. */
  publishStatus(changed: StatusFields): void;
  /**
   * Adds input to the next step of the running turn, which continues for it; without a turn opens one. The session must
   * be claimed. Throws `session.busy` while the session is being closed, and `persistence.failure`.
   */
  request(request: TurnRequest): void;
  /**
   * Opens a turn with the result of `next`, unless undefined: immediately, or after the running operation if no other
   * turn follows. Input for a running turn comes from `LiveFeature.input`. No effect while the session is closing.
   */
  wake(next: () => TurnRequest | undefined): void;
}

/** Input that opens a turn or enters the running one. */
export interface TurnRequest extends TurnInput {
  origin: Origin;
  /** Id of the prompt that opens the turn; undefined for other origins. */
  promptId?: string;
  /** Text of `turn.started`, for origins that display one. */
  prompt?: Text;
  /** Text of the turn in transcripts; default: `prompt`. */
  shown?: Text;
  /** Codes of retryable request failures that end the turn immediately. */
  givesUpOn?: readonly ModelErrorCode[];
}

/** Messages that enter a context together; their long texts are stored (`SessionLog.store`). */
export interface TurnInput {
  messages: Stored<ContextMessage>[];
  /** Media of the messages. */
  attachments?: Stored<Attachment>[];
  /** Records before the messages and after them. */
  before?: Draft[];
  after?: Draft[];
}
