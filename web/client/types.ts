/** The wire types of a client, derived from the server's schemas and imported as types only. */
import type { MAIN_AGENT as mainAgent } from '#schema/agents.ts';
import type { FileHits } from '#schema/rest/file-search.ts';
import type { CreateProvider } from '#schema/rest/provider.ts';
import type { SearchRequest } from '#schema/rest/search.ts';
import type {
  DurableFields,
  DurableType,
  GlobalFields,
  GlobalType,
  VolatileFields,
  VolatileGlobalFields,
  VolatileGlobalType,
  VolatileType,
} from '#schema/events/catalogue.ts';
import type { ServerFrameType } from '#schema/frames/server-frames.ts';

export type { ConfigObject as Config } from '#schema/config/config.ts';
export type { ContentPart } from '#schema/rest/content.ts';
export type { Display } from '#schema/rest/display.ts';
export type { AckPayload, RequestPayload, RequestType } from '#schema/frames/request-frames.ts';
export type { FileContent } from '#schema/rest/file-content.ts';
export type { FileEntry, GitStatus } from '#schema/rest/file-entry.ts';
export type { FileLists } from '#schema/rest/file-list.ts';
export type { FileHits } from '#schema/rest/file-search.ts';
export type { GitDiff, GitStatusReply } from '#schema/rest/git.ts';
export type { ServerFrames, TerminalFrame } from '#schema/frames/server-frames.ts';
export type { ToolOutput } from '#schema/engine.ts';
export type { Goal } from '#schema/events/modes.ts';
export type { PermissionMode } from '#schema/scalars.ts';
export type { Approval, Question, ResolveApproval } from '#schema/rest/interaction.ts';
export type { Meta } from '#schema/rest/meta.ts';
export type { ModelItem as Model } from '#schema/rest/model.ts';
export type { AuthSummary, CreateProvider } from '#schema/rest/provider.ts';
export type { Prompt, SubmitPrompt } from '#schema/rest/prompt.ts';
export type { SearchHit, SearchReply } from '#schema/rest/search.ts';
export type { SessionBatch } from '#schema/rest/session-batch.ts';
export type { AgentConfigRequest, Session, SessionStatus } from '#schema/rest/session.ts';
export type { SessionTask } from '#schema/rest/task.ts';
export type { Terminal } from '#schema/rest/terminal.ts';
export type {
  Frame,
  Interaction,
  Item,
  Step,
  Task as TranscriptTask,
  TranscriptPage,
  TranscriptPrompt,
} from '#schema/rest/transcript.ts';
export type { TranscriptOp, TranscriptOps } from '#schema/rest/transcript-ops.ts';
export type { TranscriptState } from '#server/transcript/reducer/state.ts';
export type { Grade } from '#schema/frames/transcripts.ts';
export type { TranscriptBatch } from '#schema/frames/transcript-updates.ts';
export type { Upload } from '#schema/rest/upload.ts';
export type { Workspace } from '#schema/rest/workspace.ts';

/** All members but the query have defaults. */
export type SearchQuery = Partial<SearchRequest> & Pick<SearchRequest, 'query'>;

export type FileHit = FileHits['items'][number];

/** The id of a session's main agent; all others are its subagents. */
export const MAIN_AGENT: typeof mainAgent = 'main';

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
  /** An empty object schema infers a type that allows no members. */
  payload: (Fields extends Record<string, never> ? object : Fields) & Routing;
  epoch?: string;
}

/** Types of the frames that `Socket.on` delivers. The event `error` has the type of the system frame, which is not needed. */
export type FrameType = Exclude<ServerFrameType, 'error'>;

export type DurableFrame = { [T in DurableType]: Frame<T, DurableFields<T>> & { volatile?: undefined } }[DurableType];
export type VolatileFrame = {
  [T in VolatileType]: Frame<T, VolatileFields<T>> & { volatile: true; offset?: number };
}[VolatileType];
export type GlobalFrame =
  | { [T in GlobalType]: Frame<T, GlobalFields<T>> & { volatile?: undefined } }[GlobalType]
  | { [T in VolatileGlobalType]: Frame<T, VolatileGlobalFields<T>> & { volatile: true } }[VolatileGlobalType];

/** Every event of this server. Clients ignore unknown types, so a `switch` needs no default case. */
export type EventFrame = DurableFrame | VolatileFrame | GlobalFrame;

export interface Ack {
  code: number;
  msg: string;
  payload: object;
}

export interface Page<T> {
  items: T[];
  has_more: boolean;
}

/** Wire types of a provider, the most common first. */
export const wireTypes: readonly CreateProvider['type'][] = [
  'openai',
  'openai_responses',
  'anthropic',
  'google-genai',
  'vertexai',
  'native',
];

export interface SessionQuery {
  before_id?: string;
  page_size?: number;
  workspace_id?: string;
  archived_only?: boolean;
  exclude_empty?: boolean;
}

export interface TranscriptQuery {
  agent_id: string;
  before_turn?: string;
  page_size?: number;
}

export interface CreateSession {
  workspace_id?: string;
  metadata?: { cwd: string };
  title?: string;
}
