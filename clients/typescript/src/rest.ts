/** The REST API: any operation by `request`, and the calls of most clients by name. */
import type { CallOptions, Reply, RequestOptions, UploadOptions } from './operations.ts';
import { createRequest, type Request, type RequestSettings } from './request.ts';
import type {
  AgentConfigRequest,
  AuthSummary,
  Config,
  CreateProvider,
  CreateSession,
  Meta,
  Model,
  Page,
  Prompt,
  ResolveApproval,
  SearchQuery,
  SearchReply,
  Session,
  SessionBatch,
  SessionQuery,
  SessionStatus,
  SubmitPrompt,
  TranscriptOps,
  TranscriptPage,
  TranscriptQuery,
  Upload,
  Workspace,
} from './types.ts';

export type RestOptions = RequestSettings;

/** Every call rejects with ApiError (an error reply), ConnectionError (no reply), or the reason of its signal. */
export interface Rest {
  /** Any operation of `/openapi.json`, by its method and path. */
  request: Request;
  /** Stores a file on the server, for a later prompt; it expires if no prompt uses it. */
  upload(file: Blob, name: string, expiresInSec: number, options?: UploadOptions): Promise<Upload>;
  deleteUpload(id: string, options?: CallOptions): Promise<{ deleted: true }>;
  meta(options?: CallOptions): Promise<Meta>;
  auth(options?: CallOptions): Promise<AuthSummary>;
  config(options?: CallOptions): Promise<Config>;
  models(options?: CallOptions): Promise<{ items: Model[] }>;
  setDefaultModel(id: string, options?: CallOptions): Promise<{ default_model: string }>;
  createProvider(body: CreateProvider, options?: CallOptions): Promise<{ id: string }>;
  workspaces(options?: CallOptions): Promise<{ items: Workspace[] }>;
  sessions(query: SessionQuery, options?: CallOptions): Promise<Page<Session>>;
  search(body: SearchQuery, options?: CallOptions): Promise<SearchReply>;
  /** Ids of all archived sessions, or of all others. */
  sessionIds(archived: boolean, options?: CallOptions): Promise<string[]>;
  /** At most 5,000 ids. Failures of single sessions are in the reply. */
  archiveMany(ids: readonly string[], options?: CallOptions): Promise<SessionBatch>;
  /** At most 5,000 ids. Failures of single sessions are in the reply. */
  restoreMany(ids: readonly string[], options?: CallOptions): Promise<SessionBatch>;
  createSession(body: CreateSession, options?: CallOptions): Promise<Session>;
  session(id: string, options?: CallOptions): Promise<Session>;
  updateProfile(
    id: string,
    body: { title?: string; agent_config?: AgentConfigRequest },
    options?: CallOptions,
  ): Promise<Session>;
  abort(id: string, options?: CallOptions): Promise<{ aborted: boolean }>;
  status(id: string, options?: CallOptions): Promise<SessionStatus>;
  /** A page of the agent's newest turns, or of those before a turn. */
  transcript(id: string, query: TranscriptQuery, options?: CallOptions): Promise<TranscriptPage>;
  transcriptOps(
    id: string,
    query: { agent_id: string; since_seq: number },
    options?: CallOptions,
  ): Promise<TranscriptOps>;
  /** Reverts the newest prompts and everything after them. */
  undo(id: string, count: number, options?: CallOptions): Promise<object>;
  /** Creates an independent copy. */
  fork(id: string, options?: CallOptions): Promise<Session>;
  compact(id: string, instruction: string, options?: CallOptions): Promise<object>;
  submitPrompt(id: string, body: SubmitPrompt, options?: CallOptions): Promise<Prompt>;
  abortPrompt(id: string, promptId: string, options?: CallOptions): Promise<{ aborted: boolean }>;
  resolveApproval(
    id: string,
    approvalId: string,
    body: ResolveApproval,
    options?: CallOptions,
  ): Promise<{ resolved: boolean }>;
}

type SessionIds = Reply<'GET /api/v2/sessions'>;

/** The largest page of ids. */
const PROJECTED_PAGE = 10_000;

export function createRest(settings: RestOptions): Rest {
  const request = createRequest(settings);

  return {
    request,
    upload(file, name, expiresInSec, options) {
      const body = new FormData();
      body.set('expires_in_sec', String(expiresInSec));
      body.set('file', file, name);
      return request('POST /api/v1/files', { body, ...options });
    },
    deleteUpload: (file_id, options) => request('DELETE /api/v1/files/{file_id}', { path: { file_id }, ...options }),
    meta: (options) => request('GET /api/v1/meta', options),
    auth: (options) => request('GET /api/v1/auth', options),
    config: (options) => request('GET /api/v1/config', options),
    models: (options) => request('GET /api/v1/models', options),
    setDefaultModel: (model_id, options) =>
      request('POST /api/v1/models/{model_id}:set_default', { path: { model_id }, ...options }),
    createProvider: (body, options) => request('POST /api/v1/providers', { body, ...options }),
    workspaces: (options) => request('GET /api/v1/workspaces', options),
    sessions: (query, options) => request('GET /api/v1/sessions', { query, ...options }),
    search: (body, options) => request('POST /api/v1/search', { body, ...options }),
    async sessionIds(archived, options) {
      const ids: string[] = [];
      let token: string | null = null;
      do {
        const query: RequestOptions<'GET /api/v2/sessions'>['query'] = {
          'meta.archived': archived ? 'true' : 'false',
          fields: 'id,archived',
          page_size: PROJECTED_PAGE,
          ...(token !== null && { page_token: token }),
        };
        const page: SessionIds = await request('GET /api/v2/sessions', { query, ...options });
        if ('items' in page) ids.push(...page.items.map(({ id }) => id));
        token = page.next_page_token;
      } while (token !== null);
      return ids;
    },
    archiveMany: (ids, options) => request('POST /api/v2/sessions:archive', { body: { ids: [...ids] }, ...options }),
    restoreMany: (ids, options) => request('POST /api/v2/sessions:restore', { body: { ids: [...ids] }, ...options }),
    createSession: (body, options) => request('POST /api/v1/sessions', { body, ...options }),
    session: (session_id, options) =>
      request('GET /api/v1/sessions/{session_id}', { path: { session_id }, ...options }),
    updateProfile: (session_id, body, options) =>
      request('POST /api/v1/sessions/{session_id}/profile', { path: { session_id }, body, ...options }),
    abort: (session_id, options) =>
      request('POST /api/v1/sessions/{session_id}:abort', { path: { session_id }, ...options }),
    status: (session_id, options) =>
      request('GET /api/v1/sessions/{session_id}/status', { path: { session_id }, ...options }),
    transcript: (session_id, query, options) =>
      request('GET /api/v1/sessions/{session_id}/transcript', { path: { session_id }, query, ...options }),
    transcriptOps: (session_id, query, options) =>
      request('GET /api/v1/sessions/{session_id}/transcript/ops', { path: { session_id }, query, ...options }),
    undo: (session_id, count, options) =>
      request('POST /api/v1/sessions/{session_id}:undo', { path: { session_id }, body: { count }, ...options }),
    fork: (session_id, options) =>
      request('POST /api/v1/sessions/{session_id}:fork', { path: { session_id }, ...options }),
    compact: (session_id, instruction, options) =>
      request('POST /api/v1/sessions/{session_id}:compact', {
        path: { session_id },
        body: instruction ? { instruction } : {},
        ...options,
      }),
    submitPrompt: (session_id, body, options) =>
      request('POST /api/v1/sessions/{session_id}/prompts', { path: { session_id }, body, ...options }),
    abortPrompt: (session_id, prompt_id, options) =>
      request('POST /api/v1/sessions/{session_id}/prompts/{prompt_id}:abort', {
        path: { session_id, prompt_id },
        ...options,
      }),
    resolveApproval: (session_id, approval_id, body, options) =>
      request('POST /api/v1/sessions/{session_id}/approvals/{approval_id}', {
        path: { session_id, approval_id },
        body,
        ...options,
      }),
  };
}
