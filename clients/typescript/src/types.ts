/** Names for the values of the API, all from the generated types. */
import type { components } from './generated/openapi.ts';
import type { Reply, RequestBody, RequestOptions } from './operations.ts';

type Schemas = components['schemas'];

// The server and its settings
export type AuthSummary = Schemas['AuthSummary'];
export type Config = Schemas['Config'];
export type Meta = Schemas['Meta'];
export type Model = Schemas['ModelItem'];
export type CapabilityInstall = Schemas['CapabilityInstall'];
export type CapabilityStatus = Schemas['Capability'];
export type MarketplaceEntry = Schemas['MarketplaceEntry'];
export type PluginSummary = Schemas['Plugin'];
export type SkillDescriptor = Schemas['SkillDescriptor'];
export type ToolDescriptor = Schemas['ToolDescriptor'];

// Providers
export type CatalogEntry = Schemas['CatalogEntry'];
export type RejectReason = NonNullable<CatalogEntry['reject_reason']>;
export type CreateProvider = RequestBody<'POST /api/v1/providers'>;
export type ImportCatalog = RequestBody<'POST /api/v1/providers:import_catalog'>;
export type ImportedProvider = Reply<'POST /api/v1/providers:import_catalog'>;
export type ImportRegistry = RequestBody<'POST /api/v1/providers:import_registry'>;
export type ImportedRegistry = Reply<'POST /api/v1/providers:import_registry'>;
export type ProviderItem = Schemas['ProviderItem'];
export type RefreshReport = Schemas['RefreshReport'];

// Account and remote control
export type LoginFlow = Schemas['LoginFlow'];
export type Quota = Schemas['Quota'];
export type UserInfo = Schemas['UserInfo'];
export type RemoteConflict = Schemas['RemoteConflict'];
export type RemoteDevice = Schemas['RemoteDevice'];
export type RemoteStatus = Schemas['RemoteStatus'];

// MCP servers
export type AuthStatus = Reply<'GET /api/v2/mcp/auth-statuses'>[number]['authStatus'];
export type ManagedServer = Reply<'GET /api/v2/mcp/servers'>[number];
export type McpServerConfig = RequestBody<'PUT /api/v2/mcp/servers/{name}'>;
export type McpServerRow = Schemas['McpServer'];
export type Locator = Reply<'POST /api/v2/mcp/servers:inspect'>[number]['locator'];

// Sessions and workspaces
export type AgentConfigRequest = NonNullable<RequestBody<'POST /api/v1/sessions/{session_id}/profile'>['agent_config']>;
export type CreateSession = RequestBody<'POST /api/v1/sessions'>;
export type Goal = Schemas['Goal'];
export type PermissionMode = NonNullable<Config['default_permission_mode']>;
export type Session = Schemas['Session'];
export type SessionBatch = Reply<'POST /api/v2/sessions:archive'>;
export type SessionQuery = NonNullable<RequestOptions<'GET /api/v1/sessions'>['query']>;
export type SessionStatus = Schemas['SessionStatus'];
export type SessionTask = Schemas['Task'];
export type SessionWarning = Reply<'GET /api/v1/sessions/{session_id}/warnings'>['warnings'][number];
export type Terminal = Reply<'GET /api/v1/sessions/{session_id}/terminals'>['items'][number];
export type Workspace = Schemas['Workspace'];

// Prompts, and requests of an agent to people
export type ActivateSkill = NonNullable<RequestBody<'POST /api/v1/sessions/{session_id}/skills/{skill_name}:activate'>>;
export type Approval = Schemas['ApprovalRequest'];
export type ContentPart = Schemas['ContentPartInput'];
export type Display = Approval['tool_input_display'];
export type Message = Schemas['Message'];
export type Prompt = Schemas['Prompt'];
export type Question = Schemas['QuestionRequest'];
export type ResolveApproval = RequestBody<'POST /api/v1/sessions/{session_id}/approvals/{approval_id}'>;
export type SubmitPrompt = RequestBody<'POST /api/v1/sessions/{session_id}/prompts'>;
export type Upload = Schemas['File'];

// Search
export type SearchHit = Schemas['SearchHit'];
export type SearchQuery = RequestBody<'POST /api/v1/search'>;
export type SearchReply = Reply<'POST /api/v1/search'>;

// Files
export type FileContent = Schemas['FileContent'];
export type FileEntry = Schemas['FileEntry'];
export type FileHit = Schemas['FileHit'];
export type FileHits = Schemas['FileHits'];
export type FileLists = Schemas['FileLists'];
export type GitDiff = Schemas['GitDiff'];
export type GitStatus = NonNullable<FileEntry['git_status']>;
export type GitStatusReply = Schemas['GitStatusReply'];

// Transcripts
export type Frame = Schemas['TranscriptFrame'];
export type Interaction = Schemas['TranscriptInteraction'];
export type Item = Schemas['TranscriptItem'];
export type Step = Schemas['TranscriptStep'];
export type TranscriptAttachment = Schemas['TranscriptAttachment'];
export type TranscriptCaller = Schemas['TranscriptCaller'];
export type TranscriptMeta = Schemas['TranscriptMeta'];
export type TranscriptOp = Schemas['TranscriptOp'];
export type TranscriptOps = Reply<'GET /api/v1/sessions/{session_id}/transcript/ops'>;
export type TranscriptPage = Reply<'GET /api/v1/sessions/{session_id}/transcript'>;
export type TranscriptPrompt = Schemas['TranscriptPrompt'];
export type TranscriptQuery = RequestOptions<'GET /api/v1/sessions/{session_id}/transcript'>['query'];
export type TranscriptTask = Schemas['TranscriptTask'];
export type TranscriptTodo = Schemas['TranscriptTodo'];

export type UserMessages = Reply<'GET /api/v1/sessions/{session_id}/transcript/user-messages'>;

export interface Page<T> {
  items: T[];
  has_more: boolean;
}

/** The id of a session's main agent; all others are its subagents. */
export const MAIN_AGENT = 'main';

/** Wire types of a provider, the most common first. */
export const wireTypes: readonly CreateProvider['type'][] = [
  'openai',
  'openai_responses',
  'anthropic',
  'google-genai',
  'vertexai',
  'native',
];
