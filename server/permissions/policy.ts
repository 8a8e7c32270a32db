/** The decision chain of engine.md §6.2: may this call run, must somebody be asked, or is it refused. */
import { relative, sep } from 'node:path';
import type { PermissionMode } from '#schema/scalars.ts';
import { isInside, isInsideAny } from '#server/files/paths.ts';
import { isSensitivePath } from './sensitive-files.ts';
import type { Access, ToolEnvironment, PreparedCall } from '#server/tools/tool.ts';
import { parsePattern, rememberedRule } from './patterns.ts';
import type { PermissionRule } from './patterns.ts';
import { findRepository } from '#server/files/repository.ts';
import type { Repository } from '#server/files/repository.ts';
import { allows, blocks } from './rules.ts';
import type { RuledCall } from './rules.ts';

export interface Decision {
  kind: 'approve' | 'deny' | 'ask';
  /** Why it was denied, for the model; why it is asked, for people. */
  reason?: string;
  /** With `ask`: the rule that an approval for the session would be remembered as; absent when there is none. */
  rule?: string;
}

export interface PermissionCall {
  toolName: string;
  plan: Pick<PreparedCall, 'accesses' | 'subject'>;
}

export interface PermissionContext {
  mode: PermissionMode;
  /** Configured rules in the order rules, deny, allow, ask. */
  rules: readonly PermissionRule[];
  /** Rules remembered for the session. */
  sessionRules: readonly string[];
  environment: Pick<ToolEnvironment, 'runtime' | 'cwd' | 'additionalDirs' | 'skillDirs' | 'sessionDir'>;
}

/** Decides a call, or leaves it to the steps behind. */
export type PermissionStep = (
  call: PermissionCall,
  context: PermissionContext,
) => Promise<Decision | undefined> | Decision | undefined;

const readingTools = new Set(['Read', 'Grep', 'Glob', 'ReadMediaFile']);
const approvedTools = new Set([
  ...readingTools,
  'TodoList',
  'TaskList',
  'TaskOutput',
  'WaitFor',
  'CronList',
  'WebSearch',
  'FetchURL',
  'Agent',
  'AgentSwarm',
  'AskUserQuestion',
  'Skill',
  'EnterPlanMode',
  'ExitPlanMode',
  'CreateGoal',
  'GetGoal',
  'SetGoalBudget',
  'UpdateGoal',
  'select_tools',
]);
const writingTools = new Set(['Write', 'Edit']);

/** A declared file access with its links resolved. */
interface FileAccess {
  path: string;
  real: string;
  writes: boolean;
}

function fileAccesses(accesses: readonly Access[], realpath: RuledCall['realpath']): Promise<FileAccess[]> {
  const files = accesses.flatMap((access) => (access.kind === 'file' ? [access] : []));
  return Promise.all(
    files.map(async ({ path, mode }) => ({ path, real: await realpath(path), writes: mode !== 'read' })),
  );
}

/** First deny or ask rule that applies. */
async function findBlocking(rules: readonly PermissionRule[], decision: 'deny' | 'ask', call: RuledCall) {
  for (const rule of rules) {
    if (rule.decision === decision && (await blocks(parsePattern(rule.pattern), call))) return rule;
  }
  return undefined;
}

function touchesGit(
  { path, real }: FileAccess,
  cwd: string,
  realCwd: string,
  repository: Repository | undefined,
): boolean {
  const segments = [...relative(cwd, path).split(sep), ...relative(realCwd, real).split(sep)];
  if (segments.some((segment) => segment.toLowerCase() === '.git')) return true;
  return repository?.controlPaths.some((control) => isInside(path, control) || isInside(real, control)) ?? false;
}

/** Decides one call; first match wins. Throws only for a rule with an invalid pattern, which configuration rejects. */
export async function decide(call: PermissionCall, context: PermissionContext): Promise<Decision> {
  const { mode, rules, environment } = context;
  const { toolName, plan } = call;
  const { runtime, cwd, additionalDirs, skillDirs, sessionDir } = environment;
  const ruled: RuledCall = { toolName, subject: plan.subject, cwd, realpath: runtime.realpath };
  const remembered = rememberedRule(toolName, plan.subject);
  const ask = (reason: string): Decision => ({ kind: 'ask', reason, ...(remembered ? { rule: remembered } : {}) });
  const approve: Decision = { kind: 'approve' };

  if (mode === 'auto' && toolName === 'AskUserQuestion') {
    return { kind: 'deny', reason: 'Nobody answers questions in auto mode. Decide yourself and go on.' };
  }

  const denied = await findBlocking(rules, 'deny', ruled);
  if (denied) {
    const why = denied.reason ? `: ${denied.reason}` : '';
    return { kind: 'deny', reason: `Denied by the permission rule ${denied.pattern}${why}` };
  }

  if (mode === 'auto') return approve;

  const allowRules = rules.filter(({ decision }) => decision === 'allow');
  const ofSession = [
    ...context.sessionRules,
    ...allowRules.filter(({ scope }) => scope === 'session-runtime').map(({ pattern }) => pattern),
  ].map(parsePattern);
  if (await allows(ofSession, ruled)) return approve;

  const asking = await findBlocking(rules, 'ask', ruled);
  if (asking) return ask(asking.reason ?? `The permission rule ${asking.pattern} asks.`);

  // Remembered rules count along: each simple command of a line needs some rule, wherever it comes from.
  const configured = allowRules.map(({ pattern }) => parsePattern(pattern));
  if (await allows([...configured, ...ofSession], ruled)) return approve;

  const files = await fileAccesses(plan.accesses, runtime.realpath);
  if (files.some(({ path, real }) => isSensitivePath(path) || isSensitivePath(real))) {
    return ask('The file may hold secrets.');
  }

  const realCwd = await runtime.realpath(cwd);
  const repository = files.length > 0 ? await findRepository(cwd, runtime) : undefined;
  if (files.some((file) => touchesGit(file, cwd, realCwd, repository))) {
    return ask("The path belongs to git's own files.");
  }

  if (mode === 'yolo') return approve;

  const allInside = async (paths: readonly FileAccess[], folders: readonly string[]) => {
    for (const { real } of paths) if (!(await isInsideAny(real, folders, runtime))) return false;
    return true;
  };
  const workspace = [cwd, ...additionalDirs];

  if (approvedTools.has(toolName)) {
    const readable = [...workspace, sessionDir, ...skillDirs];
    if (!readingTools.has(toolName) || (await allInside(files, readable))) return approve;
    return ask('The path lies outside the workspace.');
  }

  if (writingTools.has(toolName) && process.platform !== 'win32') {
    const targets = files.filter(({ writes }) => writes);
    if (targets.length > 0 && repository?.inWorkTree && (await allInside(targets, workspace))) return approve;
    return ask(repository?.inWorkTree ? 'The path lies outside the workspace.' : 'The workspace is not under git.');
  }

  return ask(`${toolName} needs approval.`);
}
