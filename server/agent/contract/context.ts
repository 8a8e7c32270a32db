/** Contexts that the agent loop, tool calls and features receive, and the services of every agent. */
import type { Clock } from '#server/clock.ts';
import type { ConfigReader } from '#server/config/config.ts';
import type { Approvals } from '#server/interactions/approvals.ts';
import type { Interactions } from '#server/interactions/interactions.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import type { ContextState, RememberedRule } from '#server/journal/projections/context.ts';
import type { Attachment, Draft, InternalFields } from '#server/journal/records.ts';
import type { Images } from '#server/images/images.ts';
import type {
  ModelErrorCode,
  ModelRequest,
  ModelResponse,
  RequestSettings,
  ResolvedModel,
  StreamPart,
} from '#server/models/types.ts';
import type { Decision } from '#server/permissions/decision.ts';
import type { AddedStep } from '#server/permissions/policy.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Tasks, TaskSettings } from '#server/tasks/tasks.ts';
import type { PreparedCall, Tool, ToolEnvironment } from '#server/tools/tool.ts';
import type { Caller } from '#schema/caller.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import type { StatusFacts } from '#schema/events/volatile.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { AgentConfig } from '#server/agent/binding/agent-config.ts';
import type { AgentTools } from '#server/agent/binding/agent-tools.ts';
import type { Touched } from '#server/agent/calls/nested-instructions.ts';
import type { RepeatGuard } from '#server/agent/calls/repeat-guard.ts';
import type { Feature, LiveFeature } from './feature.ts';
import type { Profile, Profiles } from '#server/agent/profiles/built-in.ts';
import type { Roster } from '#server/agent/roster.ts';
import type { Catalog } from '#server/agent/profiles/profiles.ts';
import type { Instructions } from '#server/agent/prompt/instructions.ts';
import type { StoredMediaReader } from '#server/agent/media/stored-media.ts';

/** Identity and directories of a session. */
export interface SessionPlace {
  id: string;
  workspaceId: string;
  cwd: string;
  /** The session's data folder. */
  dir: string;
  /** Data folders of the sessions that it was copied from. */
  readonly ancestorDirs?: readonly string[];
}

/** A loaded session as its agents and features see it. */
export interface SessionContext extends SessionPlace {
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
  tellFacts(changed: StatusFacts): void;
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

export type MediaKind = 'image' | 'video';

/** The services of every agent; settings are read from the configuration at each use. */
export interface AgentServices {
  readonly config: ConfigReader;
  readonly tools: readonly Tool[];
  defaultPermission(): PermissionMode;
  /** Throws what makes the alias unusable. */
  resolveModel(alias: string): ResolvedModel;
  /** Resolves a requested effort, or the default, to one that the model supports. */
  effort(model: ResolvedModel, wanted: string | undefined): string;
  settings(model: ResolvedModel, effort: string): RequestSettings;
  /** Completion cap in tokens if `used` tokens of the context are in use. */
  budget(model: ResolvedModel, used: number): number | undefined;
  limits(): { maxSteps: number; maxAttempts: number };
  tasks(): TaskSettings;
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** Media kinds that a model accepts from files; default: the default model. Empty if the model cannot be used. */
  mediaKinds(alias: string | undefined): ReadonlySet<MediaKind>;
  /** Prepares images for models. */
  readonly images: Images;
  /** Replaces references to session files in messages by content that the model accepts. */
  withStoredMedia: StoredMediaReader['resolve'];
  /** Context limit of the configured default model. */
  defaultLimit(): number | undefined;
  readInstructions(place: SessionPlace): Promise<Instructions>;
  repositoryOf: Projects['repositoryOf'];
  /** Instruction files that apply to the directories a call touched, without those in `known`. */
  nestedInstructions(touched: Touched, known: ReadonlySet<string>): Promise<string[]>;
  /** The profiles that are available to agents in this directory. */
  profiles(place: SessionPlace): Profiles;
  /** Checks the agent files that apply to the directory, unless that was done recently. Never rejects. */
  lookAtProfiles(place: SessionPlace): Promise<Catalog>;
  /** Renders the system prompt of an agent with this profile. */
  renderPrompt(
    place: SessionPlace,
    facts: { instructions: Instructions; additionalDirs: readonly string[] },
    profile: Profile,
  ): Promise<string>;
  /** The configuration that `toolPolicy` depends on: the same object while it is unchanged. */
  toolSettings(): unknown;
  /**
   * Which of these tools are allowed, and the list entries that match none of them. `bound` is the agent's binding;
   * undefined before it.
   */
  toolPolicy(names: readonly string[], bound: BoundTools | undefined, sessionDisabled: readonly string[]): ToolPolicy;
  /** Runtime and directories of the session: the workspace's roots, and those that are readable without approval. */
  reach(
    place: SessionPlace,
  ): Pick<ToolEnvironment, 'runtime' | 'cwd' | 'additionalDirs' | 'skillDirs' | 'sessionDir' | 'ancestorDirs' | 'home'>;
  decide(
    tool: Pick<Tool, 'name' | 'permission' | 'effects'>,
    prepared: PreparedCall,
    facts: DecisionFacts,
  ): Promise<Decision>;
}

/** The tool lists of a binding. */
export type BoundTools = Pick<InternalFields['agent.bound'], 'tools' | 'disallowed'>;

export interface ToolPolicy {
  active: ReadonlySet<string>;
  ineffective: string[];
}

/** Inputs of a permission decision in addition to the call. */
export interface DecisionFacts {
  agentId: string;
  place: SessionPlace;
  mode: PermissionMode;
  /** Rules remembered for the session. */
  remembered: readonly RememberedRule[];
  /** Steps that features add. */
  steps: readonly AddedStep[];
  /** Earlier calls of the same response that were admitted. */
  admitted: readonly PreparedCall[];
}

/** A change of binding or mode; absent members stay unchanged. */
export interface AgentChange {
  profile?: Profile;
  model?: string;
  thinking?: string;
  permission?: PermissionMode;
  /** The client that requested the permission mode. */
  by?: Caller | undefined;
  runtimeId?: string;
}
