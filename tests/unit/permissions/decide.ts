/** Runs the real policy in a temporary git work tree, with calls as the tools would declare them. */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { RememberedRule } from '#server/journal/projections/context.ts';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import type { Decision, PermissionScope } from '#server/permissions/decision.ts';
import type { PermissionRuleConfig } from '#schema/config/config.ts';
import type { PermissionPolicyDeps } from '#server/permissions/policy.ts';
import { createServerHome } from '#server/home/server-home.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { Access, RuleSubject, ToolPermission } from '#server/tools/tool.ts';
import { openPolicy } from '#support/policy.ts';
import { createWorkspace } from '../builtin-tools/workspace.ts';
import type { Workspace } from '../builtin-tools/workspace.ts';

export interface Setup {
  mode?: PermissionMode;
  /** `unknown`: the configuration has been invalid since the start. */
  rules?: PermissionRuleConfig[] | 'unknown';
  remembered?: RememberedRule[];
  places?: Partial<PermissionScope>;
  /** The directory that a command runs in; default: the working directory. */
  directory?: string;
  env?: NodeJS.ProcessEnv;
  /** Accesses of earlier calls of the same response. */
  admitted?: readonly Access[];
  controlFolders?: PermissionPolicyDeps['controlFolders'];
}

export const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always', ...args], {
    cwd,
    stdio: 'pipe',
  });

export const rule = (
  decision: PermissionRuleConfig['decision'],
  pattern: string,
  more: Partial<PermissionRuleConfig> = {},
): PermissionRuleConfig => ({ decision, pattern, scope: 'user', ...more });

const classes: Record<string, ToolPermission> = {
  Read: 'read',
  Grep: 'read',
  Glob: 'read',
  Write: 'write',
  Edit: 'write',
  TodoList: 'free',
  AskUserQuestion: 'free',
  Bash: 'ask',
};

export type Project = Awaited<ReturnType<typeof createProject>>;

/**
 * Creates a committed `src/a.ts`, a folder `outside` next to the project, and links: `link` to it, `alias` to .git,
 * `innocent` to .env.
 */
export async function createProject() {
  const space: Workspace = await createWorkspace();
  const outside = join(space.root, 'outside');
  await mkdir(outside);
  const { cwd, sessionDir } = space.environment;
  const home = space.environment.home.path;
  await mkdir(sessionDir, { recursive: true });
  git(cwd, 'init', '-q');
  await space.write('src/a.ts', '');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-qm', 'first');
  await symlink(outside, space.path('link'));
  await symlink('.git', space.path('alias'));
  await space.write('.env', '');
  await symlink('.env', space.path('innocent'));

  const reader = createCommandLineReader();
  function decide(toolName: string, subject: RuleSubject, accesses: Access[], setup: Setup = {}): Promise<Decision> {
    const { mode = 'manual', rules = [], remembered = [], env, admitted, controlFolders } = setup;
    const runtime = env ? createLocalRuntime({ env: () => env }) : space.environment.runtime;
    // A new reader, because one caches the previous call's result for a moment.
    const looked = createServerHome((setup.places?.home ?? space.environment.home).path);
    const places = { ...space.environment, runtime, ...setup.places, home: looked };
    return openPolicy({ reader, ...(controlFolders ? { controlFolders } : {}) }).decide(
      { toolName, agentId: 'main', permission: classes[toolName], effects: 'any', subject, accesses },
      {
        mode,
        rules: rules === 'unknown' ? undefined : rules,
        remembered,
        places,
        ...(admitted ? { admitted: [...admitted] } : {}),
      },
    );
  }
  const absolute = (path: string) => (path.startsWith('/') ? path : space.path(path));

  return {
    ...space,
    outside,
    home,
    sessionDir,
    decide,
    file(toolName: string, path: string, setup?: Setup) {
      const mode = toolName === 'Write' ? 'write' : toolName === 'Edit' ? 'read-write' : 'read';
      const subject: RuleSubject = { text: absolute(path), match: 'path' };
      return decide(toolName, subject, [{ kind: 'file', path: absolute(path), mode }], setup);
    },
    search(toolName: string, pattern: string, path: string, setup?: Setup) {
      const access: Access = { kind: 'file', path: absolute(path), mode: 'read', recursive: true };
      return decide(toolName, { text: pattern, match: 'glob' }, [access], setup);
    },
    bash(text: string, setup: Setup = {}) {
      const directory = setup.directory ?? setup.places?.cwd ?? space.environment.cwd;
      return decide('Bash', { text, match: 'command', directory }, [{ kind: 'all' }], setup);
    },
    bare: (toolName: string, setup?: Setup) => decide(toolName, { match: 'literal' }, [{ kind: 'all' }], setup),
  };
}

export const kind = async (decision: Promise<Decision>) => (await decision).kind;
