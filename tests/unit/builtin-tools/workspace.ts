/** A temporary workspace for tool tests, and running a tool the way the pipeline does. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createServerHome } from '#server/home/server-home.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { Tasks, TaskSettings } from '#server/tasks/tasks.ts';
import { tasksOf } from '#support/tasks.ts';
import type { RunContext, Tool, ToolEnvironment, ToolProgress, ToolResult } from '#server/tools/tool.ts';

export interface Workspace {
  /** Everything is below this folder, links resolved. */
  root: string;
  environment: ToolEnvironment;
  path(name: string): string;
  write(name: string, content: string | Uint8Array): Promise<string>;
  remove(): Promise<void>;
}

export async function createWorkspace(): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-tools-')));
  const cwd = join(root, 'project');
  await mkdir(cwd);
  const sessionDir = join(root, 'home/sessions/wd_project/session_test');
  await mkdir(sessionDir, { recursive: true });
  const path = (name: string) => join(cwd, name);
  return {
    root,
    environment: {
      runtime: createLocalRuntime(),
      sessionId: 'session_test',
      agentId: 'main',
      cwd,
      additionalDirs: async () => [],
      readableDirs: () => Promise.resolve([]),
      sessionDir,
      home: createServerHome(join(root, 'home')),
      activeTools: new Set(),
    },
    path,
    async write(name, content) {
      await mkdir(dirname(path(name)), { recursive: true });
      await writeFile(path(name), content);
      return path(name);
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

export interface RunOptions {
  settings?: Partial<TaskSettings>;
  tasks?: Tasks;
  finish?: (result: ToolResult) => void;
  signal?: AbortSignal;
  onProgress?: (update: ToolProgress) => void;
}

export async function planTool(tool: Tool, environment: ToolEnvironment, args: object) {
  const checked = tool.check(args);
  if ('problem' in checked) throw new Error(checked.problem);
  return checked.prepare(environment);
}

export async function runTool(tool: Tool, environment: ToolEnvironment, args: object, options: RunOptions = {}) {
  const plan = await planTool(tool, environment, args);
  const context: RunContext = {
    ...environment,
    toolCallId: 'call_1',
    turnId: 0,
    signal: options.signal ?? new AbortController().signal,
    progress: options.onProgress ?? (() => {}),
    finish(result) {
      options.finish?.(result);
      return [];
    },
    tasks: options.tasks ?? tasksOf(environment.sessionDir, options.settings),
  };
  const result = await plan.run(context);
  if (typeof result.output !== 'string') throw new Error('expected text output');
  return { ...result, output: result.output };
}
