/**
 * The members that the debug endpoints reach. The lists omit everything that holds credentials (configuration, providers, MCP
 * servers, the guard), runs programs (runtime, git, terminals) or closes something, and members whose results are no
 * plain values.
 */
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import type { Agent, Roster } from '#server/agent/contract/agent.ts';
import type { AgentConfig } from '#server/agent/contract/config.ts';
import type { Connections } from '#server/events/peer.ts';
import type { Interactions } from '#server/interactions/interactions.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { LiveSession } from '#server/sessions/live/session.ts';
import type { Sessions } from '#server/sessions/sessions.ts';
import type { Tasks } from '#server/tasks/tasks.ts';
import type { Uploads } from '#server/uploads/uploads.ts';
import type { AdditionalDirs } from '#server/workspaces/additional-dirs.ts';
import type { Trust } from '#server/workspaces/trust.ts';
import type { Workspaces } from '#server/workspaces/workspaces.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { param, PROPERTY, type AllowList } from './listed.ts';

/** Services of the server, named as in the composition root. */
export interface AppServices {
  readonly additionalDirs: AdditionalDirs;
  readonly connections: Connections;
  readonly models: ModelChecks;
  readonly projects: Projects;
  readonly sessions: Sessions;
  readonly trust: Trust;
  readonly uploads: Uploads;
  readonly workspaces: Workspaces;
}

/** Services of a loaded session. */
export interface SessionScope {
  readonly agents: Roster;
  readonly interactions: Interactions;
  readonly log: SessionLog;
  readonly session: LiveSession;
  readonly tasks: Tasks;
}

/** Services of an agent. */
export interface AgentScope {
  readonly agent: Agent;
  readonly binding: AgentConfig;
}

const id = param('id', nonEmpty);
const alias = param('alias', nonEmpty);
const directory = param('directory', z.string().refine(isAbsolute, 'must be an absolute path'));
const page = {
  before_id: nonEmpty.optional(),
  after_id: nonEmpty.optional(),
  page_size: z.int().min(1).max(100).default(20),
  busy: z.boolean().optional(),
};
const listQuery = z.object({
  ...page,
  include_archive: z.boolean().optional(),
  archived_only: z.boolean().optional(),
  exclude_empty: z.boolean().optional(),
  workspace_id: nonEmpty.optional(),
});

export const appList: AllowList<AppServices> = {
  additionalDirs: { domain: 'workspaces', members: { of: [directory], ignored: [directory], refresh: [] } },
  connections: { domain: 'events', members: { list: [] } },
  models: {
    domain: 'models',
    members: {
      assertConfigured: [alias],
      assertEffort: [alias, param('effort', nonEmpty)],
      assertReady: [param('alias', nonEmpty.optional())],
      assertSubagentPool: [],
      defaultModel: [],
    },
  },
  projects: { domain: 'project-files', members: { find: [directory], rootOf: [directory], topOf: [directory] } },
  sessions: {
    domain: 'sessions',
    members: {
      abortTurn: [id],
      archive: [id],
      assertExists: [id],
      children: [id, param('query', z.object(page).prefault({}))],
      get: [id],
      list: [param('query', listQuery.prefault({}))],
      liveJournal: [id],
      liveRow: [id],
      restore: [id],
      tools: [param('id', nonEmpty.optional())],
      unarchive: [id],
    },
  },
  trust: { domain: 'workspaces', members: { marker: [directory], trusted: [directory] } },
  uploads: { domain: 'uploads', members: { find: [id] } },
  workspaces: {
    domain: 'workspaces',
    members: { aliases: [id], byId: [], get: [id], isRoot: [param('real', nonEmpty)], list: [] },
  },
};

export const sessionList: AllowList<SessionScope> = {
  agents: { domain: 'agent', members: { has: [id], idle: [] } },
  interactions: { domain: 'interactions', members: { pending: [] } },
  log: {
    domain: 'journal',
    members: {
      claimed: PROPERTY,
      epoch: PROPERTY,
      held: PROPERTY,
      holdsTexts: PROPERTY,
      length: PROPERTY,
      position: [],
      refresh: [],
      sync: [],
    },
  },
  session: {
    domain: 'sessions',
    members: {
      activity: [],
      agentView: [id],
      boundModel: [],
      cancelTurns: [],
      disabledTools: [],
      holds: [],
      keeps: [],
      loaded: PROPERTY,
      mainView: [],
      row: [],
      view: [],
    },
  },
  tasks: { domain: 'tasks', members: { running: [], settings: [] } },
};

export const agentList: AllowList<AgentScope> = {
  agent: {
    domain: 'agent',
    members: {
      cancelTurn: [],
      cancelling: PROPERTY,
      id: PROPERTY,
      idle: [],
      inFlight: [],
      prompts: [],
      unrecorded: [],
    },
  },
  binding: {
    domain: 'agent',
    members: {
      created: PROPERTY,
      maxContextTokens: [],
      model: [],
      permission: [],
      shownInstructions: [],
      warnings: [],
    },
  },
};
