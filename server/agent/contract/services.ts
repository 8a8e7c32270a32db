import type { ConfigReader } from '#server/config/config.ts';
import type { Tool, ToolEnvironment, PreparedCall } from '#server/tools/tool.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { ResolvedModel, RequestSettings, ModelRequest, StreamPart, ModelResponse } from '#server/models/types.ts';
import type { TaskSettings } from '#server/tasks/tasks.ts';
import type { MediaKind } from '../media/media-kinds.ts';
import type { Images } from '#server/images/images.ts';
import type { StoredMediaReader } from '../media/stored-media.ts';
import type { SessionLocation } from './context.ts';
import type { Instructions } from '../prompt/instructions.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { PromptSections } from '../prompt/system-prompt.ts';
import type { Touched } from './calls.ts';
import type { Profiles, Catalog, Profile } from './profile.ts';
import type { BoundTools, ToolPolicy } from './tools.ts';
import type { Decision } from '#server/permissions/decision.ts';
import type { PluginCommands } from '#server/plugins/commands.ts';
import type { Skills } from '#server/skills/skills.ts';
import type { RememberedRule } from '#server/journal/projections/context.ts';
import type { AddedStep } from '#server/permissions/policy.ts';

/** The services of every agent; settings are read from the configuration at each use. */
export interface AgentServices {
  readonly config: ConfigReader;
  readonly tools: readonly Tool[];
  /** The skills that apply to a directory. */
  readonly skills: Skills;
  /** The slash commands of plugins. */
  readonly commands: PluginCommands;
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
  readInstructions(place: Pick<SessionLocation, 'cwd'>): Promise<Instructions>;
  repositoryOf: Projects['repositoryOf'];
  /** Instruction files that apply to the directories a call touched, without those in `known`. */
  nestedInstructions(touched: Touched, known: ReadonlySet<string>): Promise<string[]>;
  /** The profiles that are available to agents in this directory. */
  profiles(place: SessionLocation): Profiles;
  /** Checks the agent files that apply to the directory, unless that was done recently. Never rejects. */
  lookAtProfiles(place: Pick<SessionLocation, 'cwd'>): Promise<Catalog>;
  /** Renders the system prompt of an agent with this profile. */
  renderPrompt(
    place: SessionLocation,
    facts: { instructions: Instructions; additionalDirs: readonly string[]; sections: PromptSections },
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
    place: SessionLocation,
  ): Pick<
    ToolEnvironment,
    'runtime' | 'cwd' | 'additionalDirs' | 'readableDirs' | 'sessionDir' | 'ancestorDirs' | 'home'
  >;
  decide(
    tool: Pick<Tool, 'name' | 'permission' | 'effects'>,
    prepared: PreparedCall,
    facts: DecisionInputs,
  ): Promise<Decision>;
}

/** Inputs of a permission decision in addition to the call. */
export interface DecisionInputs {
  agentId: string;
  place: SessionLocation;
  mode: PermissionMode;
  /** Rules remembered for the session. */
  remembered: readonly RememberedRule[];
  /** Steps that features add. */
  steps: readonly AddedStep[];
  /** Earlier calls of the same response that were admitted. */
  admitted: readonly PreparedCall[];
}
