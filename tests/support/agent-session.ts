/** A loaded session below HTTP: a real journal, real agents and features; the model and the policy are what a test gives. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentProgram } from '#server/agent/context.ts';
import type { Feature } from '#server/agent/feature.ts';
import { features as allFeatures } from '#server/features/features.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createLiveSession, type LiveSession } from '#server/sessions/session.ts';
import type { SessionHeader } from '#server/sessions/session-header.ts';
import type { Tool } from '#server/tools/tool.ts';
import { openLog, SESSION_ID, type OpenedLog } from './session-logs.ts';

export interface AgentSession extends OpenedLog {
  session: LiveSession;
  /** What no client could be told. */
  reports: string[];
}

export interface AgentSessionOptions {
  dir: string;
  program?: Partial<AgentProgram>;
  features?: readonly Feature[];
  tools?: readonly Tool[];
  now?: () => number;
  interactionLifetimeMs?: number;
}

const nothing = () => {
  throw new Error('this session has no model');
};

/** Opens the session of a folder, which is made when it is missing. */
export async function openAgentSession(options: AgentSessionOptions): Promise<AgentSession> {
  const { features = allFeatures, tools = [], now = Date.now, interactionLifetimeMs = 60_000 } = options;
  const dir = join(options.dir, 'session');
  await mkdir(dir, { recursive: true });
  const projections = features.flatMap((feature) => feature.projection ?? []);
  const opened = await openLog(dir, { projections });
  const reports: string[] = [];
  const place = { id: SESSION_ID, workspaceId: 'wd_1', cwd: options.dir, dir };
  const row: SessionHeader = {
    id: place.id,
    workspaceId: place.workspaceId,
    cwd: place.cwd,
    title: '',
    titleKind: 'replaceable',
    createdAt: 0,
    updatedAt: 0,
    archived: false,
    custom: {},
    open: false,
  };
  const session = createLiveSession({
    place,
    log: opened.log,
    features,
    row: () => row,
    now,
    interactionLifetimeMs,
    flushEvents: () => undefined,
    changed: () => undefined,
    report: (what) => void reports.push(what),
    program: {
      tools,
      defaultPermission: () => 'manual',
      resolveModel: nothing,
      effort: () => 'off',
      settings: nothing,
      budget: () => undefined,
      limits: () => ({ maxSteps: 0, maxAttempts: 1 }),
      stream: nothing,
      defaultLimit: () => undefined,
      readInstructions: () => Promise.resolve({ text: '', paths: [], warnings: [] }),
      nestedInstructions: () => Promise.resolve([]),
      renderPrompt: () => Promise.resolve('You help.'),
      toolPolicy: (names) => ({ active: new Set(names), ineffective: [] }),
      reach: ({ cwd, dir: sessionDir }) => ({
        runtime: createLocalRuntime(),
        cwd,
        sessionDir,
        home: sessionDir,
        additionalDirs: [],
        skillDirs: [],
      }),
      decide: () => Promise.resolve({ kind: 'approve' }),
      ...options.program,
    },
  });
  return { ...opened, session, reports };
}
