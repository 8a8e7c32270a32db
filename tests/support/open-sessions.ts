/**
 * The loaded sessions of a home below the API: real journals, state files, folds, agents and copies. The test provides
 * the index, and what the rest of a server decides.
 */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import { createAgentDefaults } from '#server/agent/binding/defaults.ts';
import type { AgentDefaults, Feature } from '#server/agent/contract/feature.ts';
import { createAgentServices } from '#server/agent/services.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import type { Clock } from '#server/clock.ts';
import { createConfig } from '#server/config/config.ts';
import { createConfigWriter } from '#server/config/config-writer.ts';
import type { EventSink } from '#server/events/frame.ts';
import { createImages } from '#server/images/images.ts';
import { createLogger } from '#server/logging/log.ts';
import { createIdentity } from '#server/account/identity.ts';
import { createModelClient } from '#server/models/stream.ts';
import { createVideoUploads } from '#server/models/video-uploads.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createSessionCopies, type CopySession } from '#server/sessions/copies/session-copies.ts';
import type { SessionIndex } from '#server/sessions/index/session-index.ts';
import { createStateFiles } from '#server/sessions/index/state-files.ts';
import { createLiveSessions, type LiveSessions, type SessionResource } from '#server/sessions/live/live-sessions.ts';
import { createSessionLoader } from '#server/sessions/live/session-loader.ts';
import { createSessionFolds, type SessionFolds } from '#server/sessions/reading/session-folds.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import { leaseHolder } from './lease-holder.ts';
import { noHooks } from './no-hooks.ts';
import { noMcp } from './no-mcp.ts';
import { noCommands, noPlugins } from './no-skills.ts';
import { noWeb } from './no-web.ts';
import { openProjects } from './projects.ts';

export interface OpenSessionsOptions {
  home: string;
  index: SessionIndex;
  clock: Clock;
  features: readonly Feature[];
  /** Receives the events of the sessions. */
  publish: EventSink['publish'];
  /** Awaited by each load. */
  ensureWorkspace(): Promise<void>;
  lookAtTrust(root: string): void;
  resource: SessionResource;
  maxLive: number;
}

export interface OpenedSessions {
  live: LiveSessions;
  folds: SessionFolds;
  copy: CopySession;
  defaults: AgentDefaults;
}

/** Opens them; closed with the test. */
export async function openSessions(options: OpenSessionsOptions): Promise<OpenedSessions> {
  const { home, index, clock, features, publish, ensureWorkspace, lookAtTrust, resource, maxLive } = options;
  const log = createLogger('silent');
  const holder = leaseHolder();
  const documents = createDocuments({ home });
  const env = () => ({});
  const lock = createChangeLock({ path: join(home, 'config.toml.lock'), holder, writer: createConfigWriter(home) });
  const config = await createConfig({ home, env, log, clock, lock });
  const defaults = createAgentDefaults(config);
  const client = createModelClient({ logins: noLogins });
  const videos = createVideoUploads({ client, documents });
  const services = createAgentServices({
    additionalDirs: async () => [],
    ignoredDirs: async () => [],
    projects: openProjects(),
    trusted: async () => false,
    contributed: () => ({ skills: [], agentFolders: [], roots: [] }),
    commands: noCommands,
    runtime: createLocalRuntime(),
    instructionsMaxAgeMs: 0,
    clock,
    home,
    shell: 'sh',
    config,
    defaults,
    env,
    identity: await createIdentity({ documents, log }),
    client,
    images: createImages({ settings: () => ({}) }),
    videos,
    tools: [],
    log,
  });
  const featureServices = {
    cron: { log },
    hooks: noHooks,
    mcp: noMcp,
    media: { videos },
    plugins: noPlugins,
    web: noWeb,
  };

  const sink = { publish };
  const slots = createSemaphore(8);
  const mapper = createMapper(features);
  const projections = features.flatMap((feature) => feature.projection ?? []);
  const folds = createSessionFolds({ slots, holder, projections, mapper, clock });
  const files = createStateFiles({ index, log, clock });
  const loader = createSessionLoader({
    root: join(home, 'sessions'),
    index,
    files,
    sink,
    holder,
    services: async () => ({ services, featureServices }),
    features,
    ensureWorkspace,
    slots,
    takeFold: folds.take,
    transcripts: { mapper, journals: createOpJournals() },
    modeChanged: () => undefined,
    lookAtTrust,
    loaded: () => undefined,
    changed: (id) => live.persist(id),
    becameReadOnly: (id) => live.abandon(id),
    flushEvents: () => undefined,
    version: '1.0.0',
    log,
    clock,
  });
  const models = { assertSubagentPool: async () => undefined };
  const live: LiveSessions = createLiveSessions({
    loader,
    index,
    files,
    resources: [resource],
    models,
    log,
    clock,
    maxLive,
  });
  const copy = createSessionCopies({ index, folds: folds.plain, sink, holder, slots, clock, loader, live });
  onTestFinished(async () => {
    await live.close();
    await config.close();
    await client.close();
  });
  return { live, folds, copy, defaults };
}
