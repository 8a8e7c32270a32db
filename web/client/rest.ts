/** REST client: one function for each call; unwraps the envelope into data or a typed error. */
import { ApiError, ConnectionError, RelayError, reasonOf } from './errors.ts';
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

export interface RestOptions {
  /** Base URL of the server's pages, with its trailing slash: `http://127.0.0.1:58627/`. */
  baseUrl: string;
  /** Read for each call, so that a new token is used immediately. */
  token: () => string | undefined;
  /**
   * The name and the secret id that the page sends with each request. The server records a hash of the id with answers
   * and changes, and `onPublicId` receives it.
   */
  caller?: { name: string; id: string; onPublicId(publicId: string): void };
  fetch?: typeof fetch;
}

type Query = Record<string, string | number | boolean | undefined>;
interface CallOptions {
  body?: object;
  query?: object;
  /** Cancels the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

interface SentRequest {
  query?: object | undefined;
  signal?: AbortSignal | undefined;
  body?: string | FormData;
  contentType?: string;
}

type Envelope<T> = { code: 0; data: T } | { code: number; msg: string; details?: unknown; data?: unknown };

export type Rest = ReturnType<typeof createRest>;

/** A relay adds it to the replies of its own; it removes the header from those of the server. */
const RELAY_ERROR_HEADER = 'x-service-relay-error';

/** The second generation's paths, relative to `api/v1/`. */
const V2 = '../v2/';
/** Envelope of a success without a body. */
const EMPTY = '{"code":0,"data":null}';
/** The largest page of ids. */
const PROJECTED_PAGE = 10_000;
type IdPage = { items: { id: string }[]; next_page_token: string | null };

/**
 * The typed calls of `/api/v1`, and those of `/api/v2` for many sessions.
 * Every call rejects with ApiError (an error reply) or ConnectionError (no reply).
 */
export function createRest(options: RestOptions) {
  const base = new URL('api/v1/', options.baseUrl);
  const send = options.fetch ?? fetch;

  async function ask(method: string, path: string, { query = {}, body, contentType, signal }: SentRequest = {}) {
    const url = new URL(path, base);
    for (const [key, value] of Object.entries(query as Query)) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    const headers: Record<string, string> = {};
    const token = options.token();
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (options.caller) {
      headers['x-service-client-name'] = options.caller.name;
      headers['x-service-client-id'] = options.caller.id;
    }
    if (contentType !== undefined) headers['content-type'] = contentType;
    const response = await send(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    const publicId = response.headers.get('x-service-client-public-id');
    if (publicId !== null) options.caller?.onPublicId(publicId);
    const relayError = response.headers.get(RELAY_ERROR_HEADER);
    if (relayError !== null) throw new RelayError(relayError);
    return response;
  }

  const silent = (error: unknown) =>
    error instanceof RelayError ? error : new ConnectionError(`The server does not answer: ${reasonOf(error)}`);

  /** Sends a JSON body, or a form. */
  async function call<T>(method: string, path: string, { body, query, signal }: CallOptions = {}): Promise<T> {
    let status: number;
    let text: string;
    try {
      const response = await (body === undefined || body instanceof FormData
        ? ask(method, path, { query, signal, ...(body && { body }) })
        : ask(method, path, { query, signal, body: JSON.stringify(body), contentType: 'application/json' }));
      status = response.status;
      text = status === 204 ? EMPTY : await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      throw silent(error);
    }
    return unwrap<T>(status, text);
  }

  /** Reads an endpoint that replies with bytes, and with an envelope only on failure. */
  async function bytes(path: string): Promise<Blob> {
    let response: Response;
    try {
      response = await ask('GET', path);
      if (response.ok && !response.headers.get('content-type')?.startsWith('application/json'))
        return await response.blob();
    } catch (error) {
      throw silent(error);
    }
    return unwrap<Blob>(response.status, await response.text());
  }

  function upload(file: Blob, name: string, expiresInSec: number): Promise<Upload> {
    const form = new FormData();
    form.set('expires_in_sec', String(expiresInSec));
    form.set('file', file, name);
    return call<Upload>('POST', 'files', { body: form });
  }

  const get = <T>(path: string, query?: object) => call<T>('GET', path, query && { query });
  const post = <T>(path: string, body?: object) => call<T>('POST', path, body && { body });
  const at = (id: string) => `sessions/${encodeURIComponent(id)}`;

  return {
    /** Any other endpoint, by its path below `/api/v1/`; features build their calls on it. */
    request: call,
    bytes,
    /** Stores a file on the server, for a later prompt; it expires if no prompt uses it. */
    upload,
    deleteUpload: (id: string) => call<{ deleted: true }>('DELETE', `files/${encodeURIComponent(id)}`),
    meta: () => get<Meta>('meta'),
    auth: () => get<AuthSummary>('auth'),
    config: () => get<Config>('config'),
    models: () => get<{ items: Model[] }>('models'),
    setDefaultModel: (id: string) => post<{ default_model: string }>(`models/${encodeURIComponent(id)}:set_default`),
    createProvider: (body: CreateProvider) => post<{ id: string }>('providers', body),
    workspaces: () => get<{ items: Workspace[] }>('workspaces'),
    sessions: (query: SessionQuery) => get<Page<Session>>('sessions', query),
    /** Rejects with the signal's reason after an abort. */
    search: (body: SearchQuery, signal?: AbortSignal) => call<SearchReply>('POST', 'search', { body, signal }),
    /** Ids of all archived sessions, or of all others. */
    async sessionIds(archived: boolean): Promise<string[]> {
      const ids: string[] = [];
      let token: string | null = null;
      do {
        const query = {
          'meta.archived': archived,
          fields: 'id,archived',
          page_size: PROJECTED_PAGE,
          ...(token !== null && { page_token: token }),
        };
        const page: IdPage = await get<IdPage>(`${V2}sessions`, query);
        ids.push(...page.items.map(({ id }) => id));
        token = page.next_page_token;
      } while (token !== null);
      return ids;
    },
    /** At most 5,000 ids. Failures of single sessions are in the reply. */
    archiveMany: (ids: readonly string[]) => post<SessionBatch>(`${V2}sessions:archive`, { ids }),
    /** At most 5,000 ids. Failures of single sessions are in the reply. */
    restoreMany: (ids: readonly string[]) => post<SessionBatch>(`${V2}sessions:restore`, { ids }),
    createSession: (body: CreateSession) => post<Session>('sessions', body),
    session: (id: string) => get<Session>(at(id)),
    updateProfile: (id: string, body: { title?: string; agent_config?: AgentConfigRequest }) =>
      post<Session>(`${at(id)}/profile`, body),
    abort: (id: string) => post<{ aborted: true }>(`${at(id)}:abort`),
    status: (id: string) => get<SessionStatus>(`${at(id)}/status`),
    /** A page of the agent's newest turns, or of those before a turn. */
    transcript: (id: string, query: TranscriptQuery) => get<TranscriptPage>(`${at(id)}/transcript`, query),
    transcriptOps: (id: string, query: { agent_id: string; since_seq: number }) =>
      get<TranscriptOps>(`${at(id)}/transcript/ops`, query),
    /** Reverts the newest prompts and everything after them. */
    undo: (id: string, count: number) => post<object>(`${at(id)}:undo`, { count }),
    /** Creates an independent copy. */
    fork: (id: string) => post<Session>(`${at(id)}:fork`),
    compact: (id: string, instruction: string) => post<object>(`${at(id)}:compact`, instruction ? { instruction } : {}),
    submitPrompt: (id: string, body: SubmitPrompt) => post<Prompt>(`${at(id)}/prompts`, body),
    abortPrompt: (id: string, promptId: string) =>
      post<{ aborted: true }>(`${at(id)}/prompts/${encodeURIComponent(promptId)}:abort`),
    resolveApproval: (id: string, approvalId: string, body: ResolveApproval) =>
      post<{ resolved: true }>(`${at(id)}/approvals/${encodeURIComponent(approvalId)}`, body),
  };
}

/** The data of an envelope, typed by the caller and not validated: the server's schemas are the contract. */
function unwrap<T>(status: number, text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConnectionError(`What answered is not this server (HTTP ${status})`);
  }
  if (!isEnvelope<T>(value)) throw new ConnectionError(`What answered is not this server (HTTP ${status})`);
  if (isSuccess(value)) return value.data;
  throw new ApiError(value.code, value.msg, { status, details: value.details, data: value.data });
}

function isEnvelope<T>(value: unknown): value is Envelope<T> {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'number';
}

function isSuccess<T>(envelope: Envelope<T>): envelope is { code: 0; data: T } {
  return envelope.code === 0;
}
