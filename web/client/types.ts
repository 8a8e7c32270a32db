/** The wire as a client reads it. All of it comes from the server's own schemas, as types only. */
import type {
  DurableFields,
  DurableType,
  GlobalFields,
  GlobalType,
  VolatileFields,
  VolatileType,
} from '../../server/schema/events/catalogue.ts';

export type { ContentPart, MediaSource } from '../../server/schema/content.ts';
export type { Display } from '../../server/schema/display.ts';
export type { PermissionMode, ToolOutput } from '../../server/schema/engine.ts';
export type { Phase } from '../../server/schema/events/volatile.ts';
export type { Approval, Question, ResolveApproval } from '../../server/schema/interaction.ts';
export type { InFlightTurn, Message, RunningTool, Snapshot } from '../../server/schema/message.ts';
export type { Prompt, SubmitPrompt } from '../../server/schema/prompt.ts';
export type { AgentConfigRequest, Session, SessionStatus } from '../../server/schema/session.ts';
export type { Workspace } from '../../server/schema/workspace.ts';

interface Routing {
  agentId: string;
  sessionId: string;
  /** Milliseconds since the epoch; engine events only. */
  time?: number;
}

interface Frame<T extends string, Fields> {
  type: T;
  seq: number;
  session_id: string;
  timestamp: string;
  payload: Fields & Routing;
  epoch?: string;
}

export type DurableFrame = { [T in DurableType]: Frame<T, DurableFields<T>> & { volatile?: undefined } }[DurableType];
export type VolatileFrame = {
  [T in VolatileType]: Frame<T, VolatileFields<T>> & { volatile: true; offset?: number };
}[VolatileType];
export type GlobalFrame = { [T in GlobalType]: Frame<T, GlobalFields<T>> & { volatile?: undefined } }[GlobalType];

/** Every event of this server. Clients ignore types they do not know, so a `switch` needs no default case. */
export type EventFrame = DurableFrame | VolatileFrame | GlobalFrame;

/** Last durable event that was applied (ws-events.md §6.2). */
export interface Cursor {
  seq: number;
  epoch?: string;
}

export interface Ack {
  code: number;
  msg: string;
  payload: {
    accepted?: string[];
    not_found?: string[];
    resync_required?: string[];
    cursors?: Record<string, Required<Cursor>>;
  };
}

export interface Page<T> {
  items: T[];
  has_more: boolean;
}

/** One row of `GET /models` (models.md §5.1). */
export interface Model {
  provider: string;
  model: string;
  display_name: string;
  max_context_size: number;
  capabilities?: string[];
  support_efforts?: string[];
  default_effort?: string;
}

/** `GET /auth` (models.md §10). */
export interface AuthSummary {
  models_ready: boolean;
  providers_count: number;
}

/** The members of `GET /config` that this client reads (models.md §3.1). */
export interface Config {
  default_model?: string;
  default_permission_mode?: 'manual' | 'auto' | 'yolo';
}

export const wireTypes = ['openai', 'openai_responses', 'anthropic', 'google-genai', 'vertexai', 'native'] as const;

/** `POST /providers` (models.md §4.2). */
export interface CreateProvider {
  id: string;
  type: (typeof wireTypes)[number];
  api_key?: string;
  base_url?: string;
  default_model?: string;
  models: { model: string; max_context_size: number; display_name?: string }[];
}

/** `GET /meta`, the members that this client reads (core.md §4.1). */
export interface Meta {
  server_version: string;
  server_id: string;
  web_title?: string;
}

export interface SessionQuery {
  before_id?: string;
  page_size?: number;
  workspace_id?: string;
  archived_only?: boolean;
  exclude_empty?: boolean;
}

export interface MessageQuery {
  before_id?: string;
  after_id?: string;
  page_size?: number;
}

export interface CreateSession {
  workspace_id?: string;
  metadata?: { cwd: string };
  title?: string;
}
