/** What an agent works with: the one object that goes to the loop, to tool calls and to features. */
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
import type { AgentConfig } from './agent-config.ts';
import type { AgentTools } from './agent-tools.ts';
import type { Touched } from './calls/nested-instructions.ts';
import type { RepeatGuard } from './calls/repeat-guard.ts';
import type { Feature, LiveFeature } from './feature.ts';
import type { Profile, Profiles } from './profile.ts';
import type { Roster } from './roster.ts';
import type { Catalog } from './profiles/profiles.ts';
import type { Instructions } from './prompt/instructions.ts';
import type { StoredMediaReader } from './stored-media.ts';

/** Where a session lives. */
export interface SessionPlace {
  id: string;
  workspaceId: string;
  cwd: string;
  /** The session's own folder. */
  dir: string;
  /** Those of the sessions that it was copied from. */
  readonly ancestorDirs?: readonly string[];
}

/** A loaded session as its agents and features see it. */
export interface SessionContext extends SessionPlace {
  readonly log: SessionLog;
  readonly interactions: Interactions;
  readonly approvals: Approvals;
  readonly tasks: Tasks;
  readonly services: AgentServices;
  /** Read at each use. A feature takes its section from it, and adds the defaults that are in the feature's folder. */
  readonly config: ConfigReader;
  /** In the order of the list. */
  readonly features: readonly LiveFeature[];
  /** The agents of the session; there once it is open. */
  readonly agents: Roster;
  /** A feature's part in this session. */
  feature<Live extends LiveFeature>(feature: Feature<Live>): Live;
  readonly clock: Clock;
  /** `AgentContext.wake` of an agent of this session; nothing where there is none of that id. */
  wake(agentId: string, next: () => TurnRequest | undefined): void;
  /** It is put away: what is planned in it waits until it is restored. */
  archived(): boolean;
  /** A turn has ended or a prompt was accepted: the session's cold view changed. */
  changed(): void;
  /** Called after the permission mode of an agent changed; a subagent that follows main is part of main's change. */
  modeChanged(mode: PermissionMode, by: Caller | undefined): void;
  /** Logs what no client can be told. */
  report(what: string, error: unknown): void;
}

/** One agent of it. */
export interface AgentContext {
  readonly id: string;
  readonly session: SessionContext;
  readonly log: SessionLog;
  readonly config: AgentConfig;
  /** Counts repeated calls; one count a turn. */
  readonly repeats: RepeatGuard;
  /** The agent's context as the journal has it. */
  state(): ContextState;
  tools(): AgentTools;
  environment(): ToolEnvironment;
  /** Tells clients of a fact that has changed; behind the records that changed it. */
  tellFacts(changed: StatusFacts): void;
  /**
   * Enters the turn that runs at its next step, which it adds if need be; without a turn opens one. The session must be
   * claimed. Throws 40901 while the session is being closed, and 50003.
   */
  request(request: TurnRequest): void;
  /**
   * Opens a turn with what `next` then gives, if that is something: at once, or behind a turn that is just being cleared away, unless another
   * follows. What enters a turn that runs is `LiveFeature.input`. Nothing while the session is being closed.
   */
  wake(next: () => TurnRequest | undefined): void;
}

/** What opens a turn, or enters one that runs. */
export interface TurnRequest extends TurnInput {
  origin: Origin;
  /** Of the prompt that opens the turn, if one does. */
  promptId?: string;
  /** Text of `turn.started`, for origins that show one. */
  prompt?: Text;
  /** Text of the turn in transcripts, where that is another. */
  shown?: Text;
  /** Failures of a request that end the turn at once, though the request could be made again. */
  givesUpOn?: readonly ModelErrorCode[];
}

/** What enters a context together; its long texts are stored (`SessionLog.store`). */
export interface TurnInput {
  messages: Stored<ContextMessage>[];
  /** Media that the messages bring. */
  attachments?: Stored<Attachment>[];
  /** Records in front of the messages, and behind them. */
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
  /** Effort that a wish (or none) becomes on this model. */
  effort(model: ResolvedModel, wanted: string | undefined): string;
  settings(model: ResolvedModel, effort: string): RequestSettings;
  /** Completion cap in tokens when this many are already used. */
  budget(model: ResolvedModel, used: number): number | undefined;
  limits(): { maxSteps: number; maxAttempts: number };
  tasks(): TaskSettings;
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** What a model can be shown of files, the default one unless given; nothing of one that cannot be used. */
  mediaKinds(alias: string | undefined): ReadonlySet<MediaKind>;
  /** Makes images fit for models. */
  readonly images: Images;
  /** Messages with the files of the session that they name, as this model takes them. */
  withStoredMedia: StoredMediaReader['resolve'];
  /** Context limit of the configured default model. */
  defaultLimit(): number | undefined;
  readInstructions(place: SessionPlace): Promise<Instructions>;
  repositoryOf: Projects['repositoryOf'];
  /** Instruction files near what a call touched that `known` does not hold. */
  nestedInstructions(touched: Touched, known: ReadonlySet<string>): Promise<string[]>;
  /** The profiles that there are for agents of this place. */
  profiles(place: SessionPlace): Profiles;
  /** Looks at the files that bring profiles to the place, unless that was done just now. Never rejects. */
  lookAtProfiles(place: SessionPlace): Promise<Catalog>;
  /** The system prompt of an agent of this profile. */
  renderPrompt(
    place: SessionPlace,
    facts: { instructions: Instructions; additionalDirs: readonly string[] },
    profile: Profile,
  ): Promise<string>;
  /** What of the configuration `toolPolicy` goes by: the same object while nothing of it has changed. */
  toolSettings(): unknown;
  /**
   * Which of these tools are allowed, and the list entries that fit none of them. `bound` is what the agent was bound to;
   * absent before that.
   */
  toolPolicy(names: readonly string[], bound: BoundTools | undefined, sessionDisabled: readonly string[]): ToolPolicy;
  /** Roots that count as the workspace or are readable without asking. */
  reach(
    place: SessionPlace,
  ): Pick<ToolEnvironment, 'runtime' | 'cwd' | 'additionalDirs' | 'skillDirs' | 'sessionDir' | 'ancestorDirs' | 'home'>;
  decide(
    tool: Pick<Tool, 'name' | 'permission' | 'effects'>,
    prepared: PreparedCall,
    facts: DecisionFacts,
  ): Promise<Decision>;
}

/** The tools of a binding. */
export type BoundTools = Pick<InternalFields['agent.bound'], 'tools' | 'disallowed'>;

export interface ToolPolicy {
  active: ReadonlySet<string>;
  ineffective: string[];
}

/** What a permission decision looks at beside the call. */
export interface DecisionFacts {
  agentId: string;
  place: SessionPlace;
  mode: PermissionMode;
  /** Rules remembered for the session. */
  remembered: readonly RememberedRule[];
  /** Steps that features bring. */
  steps: readonly AddedStep[];
  /** Earlier calls of the same response that may run. */
  admitted: readonly PreparedCall[];
}

/** A change of binding or mode; absent members stay. */
export interface AgentChange {
  profile?: Profile;
  model?: string;
  thinking?: string;
  permission?: PermissionMode;
  /** The client that changes the permission mode. */
  by?: Caller | undefined;
  runtimeId?: string;
}
