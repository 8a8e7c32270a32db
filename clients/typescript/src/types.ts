/** The wire types of a client, derived from the server's schemas and imported as types only. */
import type { MAIN_AGENT as mainAgent } from '../../../server/schema/agents.ts';
import type { FileHits } from '../../../server/schema/rest/file-search.ts';
import type { CreateProvider } from '../../../server/schema/rest/provider.ts';
import type { SearchRequest } from '../../../server/schema/rest/search.ts';
import type {
  DurableFields,
  DurableType,
  GlobalFields,
  GlobalType,
  VolatileFields,
  VolatileGlobalFields,
  VolatileGlobalType,
  VolatileType,
} from '../../../server/schema/events/catalogue.ts';
import type { ServerFrameType } from '../../../server/schema/frames/server-frames.ts';

export type { ConfigObject as Config } from '../../../server/schema/config/config.ts';
export type { ContentPart } from '../../../server/schema/rest/content.ts';
export type { Display } from '../../../server/schema/rest/display.ts';
export type { AckPayload, RequestPayload, RequestType } from '../../../server/schema/frames/request-frames.ts';
export type { FileContent } from '../../../server/schema/rest/file-content.ts';
export type { FileEntry, GitStatus } from '../../../server/schema/rest/file-entry.ts';
export type { FileLists } from '../../../server/schema/rest/file-list.ts';
export type { FileHits } from '../../../server/schema/rest/file-search.ts';
export type { GitDiff, GitStatusReply } from '../../../server/schema/rest/git.ts';
export type { ServerFrames, TerminalFrame } from '../../../server/schema/frames/server-frames.ts';
export type { ToolOutput } from '../../../server/schema/engine.ts';
export type { Goal } from '../../../server/schema/events/modes.ts';
export type { PermissionMode } from '../../../server/schema/scalars.ts';
export type { Approval, Question, ResolveApproval } from '../../../server/schema/rest/interaction.ts';
export type { Meta } from '../../../server/schema/rest/meta.ts';
export type { ModelItem as Model } from '../../../server/schema/rest/model.ts';
export type { AuthSummary, CreateProvider } from '../../../server/schema/rest/provider.ts';
export type { Prompt, SubmitPrompt } from '../../../server/schema/rest/prompt.ts';
export type { SearchHit, SearchReply } from '../../../server/schema/rest/search.ts';
export type { SessionBatch } from '../../../server/schema/rest/session-batch.ts';
export type { AgentConfigRequest, Session, SessionStatus } from '../../../server/schema/rest/session.ts';
export type { SessionTask } from '../../../server/schema/rest/task.ts';
export type { Terminal } from '../../../server/schema/rest/terminal.ts';
export type {
  Frame,
  Interaction,
  Item,
  Step,
  Task as TranscriptTask,
  TranscriptPage,
  TranscriptPrompt,
} from '../../../server/schema/rest/transcript.ts';
export type { TranscriptOp, TranscriptOps } from '../../../server/schema/rest/transcript-ops.ts';
export type { TranscriptState } from '../../../server/transcript/reducer/state.ts';
export type { Grade } from '../../../server/schema/frames/transcripts.ts';
export type { TranscriptBatch } from '../../../server/schema/frames/transcript-updates.ts';
export type { Upload } from '../../../server/schema/rest/upload.ts';
export type { Workspace } from '../../../server/schema/rest/workspace.ts';

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
