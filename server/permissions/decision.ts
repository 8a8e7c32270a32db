/** Input and result of the steps of the permission chain. */
import type { PermissionMode } from '#schema/scalars.ts';
import type { ConfiguredFiles } from '#server/git/configured-files.ts';
import type { Repository } from '#server/project-files/repository.ts';
import type { RememberedRule } from '#server/journal/projections/context.ts';
import type { PreparedCall, ToolEffects, ToolEnvironment, ToolPermission } from '#server/tools/tool.ts';
import type { CommandCall } from './command-call.ts';
import type { ControlPaths } from './control-folders.ts';
import type { RuleSet } from './rule-set.ts';
import type { ServerFiles } from './server-files.ts';

export interface Decision {
  kind: 'approve' | 'deny' | 'ask';
  /** The reason: of a denial, for the model; of a request for approval, for people. */
  reason?: string;
  /** With `ask`: the rule that an approval for the session remembers; absent when none is possible. */
  rule?: RememberedRule;
  /**
   * With `approve`: a rule approved a command line that runs git. Git then ignores bare repositories that it discovers.
   */
  explicitGit?: boolean;
  /** Called when the call starts to run: returns a sentence about what has changed since the decision, or undefined. */
  outdated?(): Promise<string | undefined>;
}

export interface PermissionCall {
  toolName: string;
  agentId: string;
  /** The tool's class; undefined asks, like every unknown class. */
  permission: ToolPermission | undefined;
  effects: ToolEffects;
  subject: PreparedCall['subject'];
  accesses: PreparedCall['accesses'];
  /** Whether the call asks people for their decision. */
  review?: boolean;
}

export type PermissionScope = Pick<
  ToolEnvironment,
  'runtime' | 'cwd' | 'additionalDirs' | 'readableDirs' | 'sessionDir' | 'ancestorDirs' | 'home'
>;

/** A declared file access, also with its links resolved. */
export interface FileAccess {
  path: string;
  real: string;
  writes: boolean;
}

/** The call's surroundings. Values that need the disk are functions, memoized per decision. */
export interface PermissionContext {
  /** `manual` until rules are loaded, regardless of the agent's mode. */
  mode: PermissionMode;
  places: PermissionScope;
  rules: RuleSet;
  /** Rules remembered for the session. */
  remembered: readonly RememberedRule[];
  files(): Promise<FileAccess[]>;
  /** Files that earlier calls of the same response will write, links resolved. */
  pendingWrites(): Promise<string[]>;
  /** The working directory with its links resolved. */
  realCwd(): Promise<string>;
  /** Paths that configure agents, in addition to those with well-known names. */
  controlPaths(): Promise<ControlPaths>;
  /** The git repository around the working directory. */
  repository(): Promise<Repository | undefined>;
  /** Returns the git repository that contains a directory (links resolved). */
  repositoryAround(directory: string): Promise<Repository | undefined>;
  /** Files that the configuration of a repository names; undefined when git cannot read it. */
  configuredFiles(repository: Repository): Promise<ConfiguredFiles | undefined>;
  serverFiles(): Promise<ServerFiles>;
  /** The command line of the call; undefined for tools that run none. */
  command: CommandCall | undefined;
  /** Returns the rule that an approval for the session would remember. */
  rememberedAs(): Promise<RememberedRule | undefined>;
  /** Returns the decision `ask`, including the rule that an approval for the session would remember. */
  ask(reason: string): Promise<Decision>;
}

/** A step of the chain; undefined passes the call to the next step. */
export type PermissionStep = (
  call: PermissionCall,
  context: PermissionContext,
) => Decision | undefined | Promise<Decision | undefined>;
