/** What a step of the permission chain is asked, what it may look at, and what it may answer. */
import type { PermissionMode } from '#schema/scalars.ts';
import type { ConfiguredFiles } from '#server/git/configured-files.ts';
import type { Repository } from '#server/project-files/repository.ts';
import type { RememberedRule } from '#server/journal/projections/context.ts';
import type { PreparedCall, ToolEnvironment, ToolPermission } from '#server/tools/tool.ts';
import type { CommandCall } from './command-call.ts';
import type { ControlPaths } from './control-folders.ts';
import type { RuleSet } from './rule-set.ts';
import type { ServerFiles } from './server-files.ts';

export interface Decision {
  kind: 'approve' | 'deny' | 'ask';
  /** Why it was denied, for the model; why it is asked, for people. */
  reason?: string;
  /** With `ask`: what an approval for the session remembers; absent when there is nothing that could be. */
  rule?: RememberedRule;
  /**
   * With `approve`: a rule approved a command line that runs git. Git then uses no bare repository that it finds by
   * searching.
   */
  explicitGit?: boolean;
  /** Called when the call begins to run: what has changed since the decision, in a sentence; undefined for nothing. */
  outdated?(): Promise<string | undefined>;
}

export interface PermissionCall {
  toolName: string;
  agentId: string;
  /** The tool's own class; undefined asks, like every class that no step knows. */
  permission: ToolPermission | undefined;
  subject: PreparedCall['subject'];
  accesses: PreparedCall['accesses'];
  /** Whether the call is a question to people. */
  review?: boolean;
}

export type PermissionPlaces = Pick<
  ToolEnvironment,
  'runtime' | 'cwd' | 'additionalDirs' | 'skillDirs' | 'sessionDir' | 'ancestorDirs' | 'home'
>;

/** A declared file access, also with its links resolved. */
export interface FileAccess {
  path: string;
  real: string;
  writes: boolean;
}

/** The call's surroundings. What costs a look at the disk is a function and looked up once per decision. */
export interface PermissionContext {
  /** `manual` while no rules are known, whatever the agent's mode is. */
  mode: PermissionMode;
  places: PermissionPlaces;
  rules: RuleSet;
  /** Remembered for the session. */
  remembered: readonly RememberedRule[];
  files(): Promise<FileAccess[]>;
  /** Files that earlier calls of the same response will write, links resolved. */
  pendingWrites(): Promise<string[]>;
  /** The working directory with its links resolved. */
  realCwd(): Promise<string>;
  /** Which paths configure agents, apart from those with well-known names. */
  controlPaths(): Promise<ControlPaths>;
  /** The git repository around the working directory. */
  repository(): Promise<Repository | undefined>;
  /** The git repository that a directory (links resolved) lies in. */
  repositoryAround(directory: string): Promise<Repository | undefined>;
  /** Files that the configuration of a repository names; undefined when git cannot read it. */
  configuredFiles(repository: Repository): Promise<ConfiguredFiles | undefined>;
  serverFiles(): Promise<ServerFiles>;
  /** The command line of the call; undefined for tools that run none. */
  command: CommandCall | undefined;
  /** What an approval for the session would remember. */
  rememberedAs(): Promise<RememberedRule | undefined>;
  /** The answer `ask`, with what an approval for the session would remember. */
  ask(reason: string): Promise<Decision>;
}

/** One link of the chain. Undefined leaves the call to the next one. */
export type PermissionStep = (
  call: PermissionCall,
  context: PermissionContext,
) => Decision | undefined | Promise<Decision | undefined>;
