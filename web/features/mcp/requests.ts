/** REST calls of the panel of MCP servers. */
import type { AuthStatus, Locator, ManagedServer, TestOutcome } from '#schema/rest/mcp-management.ts';
import type { McpServerRow } from '#schema/rest/mcp.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import type { ToolDescriptor } from '#schema/rest/tool.ts';
import type { Rest } from '../../client/rest.ts';

type Calls = Pick<Rest, 'request'>;

export type SignIn =
  { status: 'already-authorized' } | { status: 'authorization-required'; flowId: string; authorizationUrl: string };

export type NamedStatus = { name: string; authStatus: AuthStatus };

/** The client's paths are relative to `api/v1/`. */
const PLANE = '../v2/mcp/';
const pathOf = (name: string) => `${PLANE}servers/${encodeURIComponent(name)}`;

/** The configured servers, including those of a project's directory. */
export const listConfigured = (rest: Calls, cwd: string) =>
  rest.request<ManagedServer[]>('GET', `${PLANE}servers`, { query: { cwd } });

export const listStatuses = (rest: Calls, cwd: string) =>
  rest.request<NamedStatus[]>('GET', `${PLANE}auth-statuses`, { query: { cwd } });

/** The servers with their states; the first call starts them. */
export const listRunning = async (rest: Calls) =>
  (await rest.request<{ servers: McpServerRow[] }>('GET', 'mcp/servers')).servers;

export const listTools = async (rest: Calls, sessionId: string) =>
  (await rest.request<{ tools: ToolDescriptor[] }>('GET', 'tools', { query: { session_id: sessionId } })).tools;

export const restart = (rest: Calls, name: string) =>
  rest.request<unknown>('POST', `mcp/servers/${encodeURIComponent(name)}:restart`);

export const addServer = (rest: Calls, name: string, config: McpServerConfig, cwd: string) =>
  rest.request<ManagedServer[]>('POST', `${PLANE}servers`, { body: { name, ...config }, query: { cwd } });

export const replaceServer = (rest: Calls, name: string, config: McpServerConfig, cwd: string) =>
  rest.request<ManagedServer[]>('PUT', pathOf(name), { body: config, query: { cwd } });

export const removeServer = (rest: Calls, name: string, cwd: string) =>
  rest.request<ManagedServer[]>('DELETE', pathOf(name), { query: { cwd } });

export const testServer = (rest: Calls, name: string, cwd: string) =>
  rest.request<TestOutcome>('POST', `${PLANE}servers:test`, { body: { name, cwd } });

export const beginSignIn = (rest: Calls, locator: Locator, cwd: string) =>
  rest.request<SignIn>('POST', `${PLANE}auth:begin`, { body: { ...locator, cwd } });

/** Resolves when the sign-in is complete; `redirectUrl` is the callback address of a browser on another machine. */
export const completeSignIn = (rest: Calls, flowId: string, redirectUrl?: string) =>
  rest.request<null>('POST', `${PLANE}auth:complete`, { body: { flowId, ...(redirectUrl && { redirectUrl }) } });

export const cancelSignIn = (rest: Calls, flowId: string) =>
  rest.request<null>('POST', `${PLANE}auth:cancel`, { body: { flowId } });

export const signOut = (rest: Calls, locator: Locator, cwd: string) =>
  rest.request<null>('POST', `${PLANE}auth:reset`, { body: { ...locator, cwd } });
