/**
 * A loaded session below HTTP: a real journal, real agents and features; the test provides the model and the policy.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { systemClock, type Clock } from '#server/clock.ts';
import { effectiveConfig } from '#server/config/effective.ts';
import { resolveFlags, type Flags } from '#server/config/flags.ts';
import type { StoredConfig } from '#server/config/stored.ts';
import type { Feature, FeatureServices } from '#server/agent/contract/feature.ts';
import { builtinProfiles, mainProfile } from '#server/agent/profiles/built-in.ts';
import { features as allFeatures } from '#server/features/features.ts';
import { createImages } from '#server/images/images.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createServerHome } from '#server/home/server-home.ts';
import type { ModelRequest, ModelResponse, ResolvedModel } from '#server/models/types.ts';
import { createLiveSession, type LiveSession } from '#server/sessions/live/session.ts';
import { createSessionReader, type SessionReader } from '#server/sessions/reading/session-views.ts';
import type { SessionHeader } from '#server/sessions/index/session-header.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { Tool } from '#server/tools/tool.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { noHooks } from './no-hooks.ts';
import { noMcp } from './no-mcp.ts';
import { noCommands, noPlugins, noSkills } from './no-skills.ts';
import { noWeb } from './no-web.ts';
import { until } from './patience.ts';
import { defaultTaskSettings } from './tasks.ts';
import { openLog, SESSION_ID, type OpenedLog } from './session-logs.ts';
import type { AgentServices } from '#server/agent/contract/services.ts';

export interface AgentSession extends OpenedLog {
  session: LiveSession;
  /** Reads the session as clients do. */
  reader: SessionReader;
  /** Logged failures that no client receives. */
  reports: string[];
}

export interface AgentSessionOptions {
  dir: string;
  services?: Partial<AgentServices>;
  featureServices?: Partial<FeatureServices>;
  /** The file layer of the configuration; read at each use. */
  config?: StoredConfig;
  /** Environment variables of the configuration. */
  env?: NodeJS.ProcessEnv;
  /** Experiments, all on by default; read at each use. */
  flags?: Partial<Flags>;
  features?: readonly Feature[];
  tools?: readonly Tool[];
  clock?: Clock;
  archived?: () => boolean;
  /** The server that the session is loaded in. */
  holder?: LeaseHolder;
}

/** Jobs fire exactly at their scheduled times (no jitter). */
export const exactCron = { noJitter: true, pollIntervalMs: 0 };

const ALL_FLAGS = resolveFlags({ SERVICE_CODE_EXPERIMENTAL_FLAG: '1' });
/** Every experiment is off. */
export const NO_FLAGS: Flags = resolveFlags({}, { wait_for: false, session_read_model: false });

const nothing = () => {
  throw new Error('this session has no model');
};

/** Opens the session of a folder; creates the folder if it is missing. */
export async function openAgentSession(options: AgentSessionOptions): Promise<AgentSession> {
  const { features = allFeatures, tools = [], clock = systemClock } = options;
  const dir = join(options.dir, 'session');
  await mkdir(dir, { recursive: true });
  const projections = features.flatMap((feature) => feature.projection ?? []);
  const { holder } = options;
  const opened = await openLog(dir, { projections, clock, ...(holder ? { holder } : {}) });
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
    settled: false,
    wakes: [],
  };
  const session = createLiveSession({
    place,
    log: opened.log,
    features,
    loaded: row,
    row: () => ({ ...row, archived: options.archived?.() ?? false }),
    clock,
    flushEvents: () => undefined,
    transcripts: {
      mapper: createMapper(features),
      journals: createOpJournals(),
    },
    changed: () => undefined,
    modeChanged: () => undefined,
    report: (what) => void reports.push(what),
    featureServices: {
      cron: { log: { info: () => undefined } },
      hooks: noHooks,
      mcp: noMcp,
      media: { videos: { addressOf: nothing } },
      plugins: noPlugins,
      web: noWeb,
      ...options.featureServices,
    },
    services: {
      config: {
        effective: () =>
          effectiveConfig({ cron: exactCron, subagent: { timeoutMs: 0 }, ...options.config }, options.env ?? {}),
        resolveFlags: () => ({ ...ALL_FLAGS, ...options.flags }),
      },
      tools,
      skills: noSkills,
      commands: noCommands,
      defaultPermission: () => 'manual',
      resolveModel: nothing,
      effort: () => 'off',
      settings: nothing,
      budget: () => undefined,
      limits: () => ({ maxSteps: 0, maxAttempts: 1 }),
      tasks: () => defaultTaskSettings,
      profiles: () => builtinProfiles,
      stream: nothing,
      mediaKinds: () => new Set(),
      images: createImages({ settings: () => ({}) }),
      withStoredMedia: (messages) => Promise.resolve(messages),
      defaultLimit: () => undefined,
      readInstructions: () => Promise.resolve({ text: '', paths: [], warnings: [] }),
      repositoryOf: () => Promise.resolve(undefined),
      nestedInstructions: () => Promise.resolve([]),
      lookAtProfiles: () => Promise.resolve({ profiles: builtinProfiles, sources: [], warnings: [] }),
      renderPrompt: () => Promise.resolve('You help.'),
      toolSettings: () => undefined,
      toolPolicy: (names) => ({ active: new Set(names), ineffective: [] }),
      reach: ({ cwd, dir: sessionDir }) => ({
        runtime: createLocalRuntime(),
        cwd,
        sessionDir,
        home: createServerHome(sessionDir),
        additionalDirs: async () => [],
        readableDirs: () => Promise.resolve([]),
      }),
      decide: () => Promise.resolve({ kind: 'approve' }),
      ...options.services,
    },
  });
  const reader = createSessionReader(session, { defaults: session.context.services, features });
  return { ...opened, session, reader, reports };
}

/** A scripted model answer: text, calls by name with arguments, or a function of the request. */
export type ModelAnswer =
  | { text?: string; calls?: { id: string; name: string; args: unknown }[] }
  | ((request: ModelRequest) => Promise<ModelResponse>);

const model: ResolvedModel = {
  alias: 'fake',
  wireName: 'fake',
  providerId: 'fake',
  providerType: 'openai',
  protocol: 'openai',
  headers: {},
  capabilities: new Set(),
  maxContextTokens: 100_000,
  maxInputTokens: 0,
  supportEfforts: [],
  displayName: 'Fake',
};

/** Partial `AgentServices` that answers each request with the next of `answers`; `requests` collects the requests. */
export function scriptedModel(...answers: ModelAnswer[]) {
  const requests: ModelRequest[] = [];
  const services: Partial<AgentServices> = {
    resolveModel: () => model,
    settings: () => ({ effort: 'off' }),
    async stream(request, onPart) {
      requests.push(request);
      const answer = answers.shift();
      if (!answer) throw new Error('the script has no answer to this request');
      if (typeof answer === 'function') return answer(request);
      const { text, calls = [] } = answer;
      if (text !== undefined) onPart({ type: 'text', text });
      const made = calls.map(({ id, name, args }, index) => {
        const written = JSON.stringify(args);
        onPart({ type: 'call', index, id, name });
        onPart({ type: 'arguments', index, text: written });
        return { id, name, arguments: written };
      });
      return {
        parts: text === undefined ? [] : [{ type: 'text', text }],
        calls: made,
        finishReason: made.length > 0 ? 'tool_calls' : 'completed',
      };
    },
  };
  return { services, requests };
}

/** Text of all parts of a message. */
export const textOf = ({ content }: ContextMessage) =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** A session whose main agent has a model, with helpers for tests of turns. */
export async function openTalk(options: AgentSessionOptions) {
  const opened = await openAgentSession(options);
  const { session, log, frames } = opened;
  const { main } = session.agents;
  await log.claim();
  await main.context.config.change({ model: 'fake', profile: mainProfile });
  let prompts = 0;

  const durable = () => frames.filter((frame) => !frame.volatile);
  const all = (type: string) => durable().filter((frame) => frame.type === type);

  /** Submits a prompt and returns its id; `caption` describes its images. */
  function submit(text: string, caption?: string): string {
    const id = `p${prompts++}`;
    const content = [{ type: 'text' as const, text }];
    const told = caption === undefined ? {} : { caption };
    const input = { content, eventContent: content, parts: content, text, attachments: [], ...told };
    main.submit({ id, origin: { kind: 'user' }, input, createdAt: session.context.clock.now() }, []);
    return id;
  }

  /** Resolves when no turn runs. */
  const idle = () => until(() => session.agents.idle(), 'idle');

  /** `n` durable events of a type; returns the last of them. */
  const nth = (type: string, n = 1) => until(() => all(type)[n - 1], `${n}. ${type}`);

  return {
    ...opened,
    main,
    durable,
    all,
    nth,
    submit,
    idle,
    /** Runs a whole turn; returns the types of its durable events. */
    async turn(text: string): Promise<string[]> {
      const before = durable().length;
      submit(text);
      await idle();
      return durable()
        .slice(before)
        .map(({ type }) => type);
    },
    /** Record types of each journal line, internal ones included. */
    async lines(): Promise<string[][]> {
      const text = await readFile(join(log.dir, 'journal.ndjson'), 'utf8');
      const lines = text.trimEnd().split('\n').slice(1);
      return lines.map((line) => journalLine.parse(JSON.parse(line)).r.map(({ type }) => type));
    },
    close: () => log.close(),
  };
}

const journalLine = z.object({ r: z.array(z.looseObject({ type: z.string() })) });
