/** What an agent works with: the one object that goes to the loop, to tool calls and to features. */
import type { Clock } from '#server/clock.ts';
import type { Flag } from '#server/config/flags.ts';
import type { Approvals } from '#server/interactions/approvals.ts';
import type { Hooks } from '#server/hooks/hooks.ts';
import type { Interactions } from '#server/interactions/interactions.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import type { ContextState, RememberedRule } from '#server/journal/projections/context.ts';
import type { Attachment, Draft, InternalFields } from '#server/journal/records.ts';
import type { Mcp } from '#server/mcp/mcp.ts';
import type { Images } from '#server/images/images.ts';
import type { SubagentPool } from '#server/models/subagent-pool.ts';
import type {
  ModelErrorCode,
  ModelRequest,
  ModelResponse,
  RequestSettings,
  ResolvedModel,
  StreamPart,
} from '#server/models/types.ts';
import type { VideoUploads } from '#server/models/video-uploads.ts';
import type { Decision } from '#server/permissions/decision.ts';
import type { AddedStep } from '#server/permissions/policy.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Tasks, TaskSettings } from '#server/tasks/tasks.ts';
import type { PreparedCall, Tool, ToolEnvironment } from '#server/tools/tool.ts';
import type { Web } from '#server/web/web.ts';
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
  readonly program: AgentProgram;
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

/** What the program gives every agent, read from the configuration at each use. */
export interface AgentProgram {
  readonly tools: readonly Tool[];
  readonly hooks: Hooks;
  readonly mcp: Pick<Mcp, 'hold'>;
  readonly web: Web;
  defaultPermission(): PermissionMode;
  /** Whether main agents begin in plan mode. */
  defaultPlanMode(): boolean;
  /** Throws what makes the alias unusable. */
  resolveModel(alias: string): ResolvedModel;
  /** Effort that a wish (or none) becomes on this model. */
  effort(model: ResolvedModel, wanted: string | undefined): string;
  settings(model: ResolvedModel, effort: string): RequestSettings;
  /** Completion cap in tokens when this many are already used. */
  budget(model: ResolvedModel, used: number): number | undefined;
  limits(): { maxSteps: number; maxAttempts: number };
  /** When a context is compacted by itself: at this part of the window, or with less than `reserved` tokens left. */
  compaction(): { triggerRatio: number; reserved: number | undefined };
  tasks(): TaskSettings;
  cron(): CronSettings;
  /** How long a subagent may run, in ms; 0 is without end. */
  subagentTimeoutMs(): number;
  /** How many members of a swarm may run at once; unset is without limit. Throws for a setting that is no number of them. */
  swarmConcurrency(): number | undefined;
  /** Models of subagents; undefined for those of their callers. Throws what makes the configured ones unusable. */
  subagentPool(): SubagentPool | undefined;
  /** Whether an experiment is on. */
  flag(name: Flag): boolean;
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** What a model can be shown of files, the default one unless given; nothing of one that cannot be used. */
  mediaKinds(alias: string | undefined): ReadonlySet<MediaKind>;
  /** Gives the model's provider a video. */
  uploadVideo: VideoUploads['addressOf'];
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

/** How jobs of cron run. */
export interface CronSettings {
  /** There are none: no tools, and nothing fires. */
  disabled: boolean;
  /** Whether jobs come a little beside their times, each in its own way. */
  jitter: boolean;
  /** Whether old recurring jobs end. */
  stale: boolean;
  /** How long a job that is due is not looked at again, in ms. */
  pollMs: number;
  /** Logs what happens with jobs, where that is wanted. */
  trace(what: string, facts: Record<string, unknown>): void;
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
