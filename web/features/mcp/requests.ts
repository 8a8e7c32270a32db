/** REST calls of the panel of MCP servers. */
import type { AuthStatus, Locator, McpServerConfig, Rest } from '@service-code/client';

type Calls = Pick<Rest, 'request'>;

export type NamedStatus = { name: string; authStatus: AuthStatus };

/** The configured servers, including those of a project's directory. */
export const listConfigured = (rest: Calls, cwd: string) => rest.request('GET /api/v2/mcp/servers', { query: { cwd } });

export const listStatuses = (rest: Calls, cwd: string) =>
  rest.request('GET /api/v2/mcp/auth-statuses', { query: { cwd } });

/** The servers with their states; the first call starts them. */
export const listRunning = async (rest: Calls) => (await rest.request('GET /api/v1/mcp/servers')).servers;

export const listTools = async (rest: Calls, session_id: string) =>
  (await rest.request('GET /api/v1/tools', { query: { session_id } })).tools;

export const restart = (rest: Calls, name: string) =>
  rest.request('POST /api/v1/mcp/servers/{mcp_server_id}:restart', { path: { mcp_server_id: name } });

export const addServer = (rest: Calls, name: string, config: McpServerConfig, cwd: string) =>
  rest.request('POST /api/v2/mcp/servers', { body: { name, ...config }, query: { cwd } });

export const replaceServer = (rest: Calls, name: string, config: McpServerConfig, cwd: string) =>
  rest.request('PUT /api/v2/mcp/servers/{name}', { path: { name }, body: config, query: { cwd } });

export const removeServer = (rest: Calls, name: string, cwd: string) =>
  rest.request('DELETE /api/v2/mcp/servers/{name}', { path: { name }, query: { cwd } });

export const testServer = (rest: Calls, name: string, cwd: string) =>
  rest.request('POST /api/v2/mcp/servers:test', { body: { name, cwd } });

export const beginSignIn = (rest: Calls, locator: Locator, cwd: string) =>
  rest.request('POST /api/v2/mcp/auth:begin', { body: { ...locator, cwd } });

/** Resolves when the sign-in is complete; `redirectUrl` is the callback address of a browser on another machine. */
export const completeSignIn = (rest: Calls, flowId: string, redirectUrl?: string) =>
  rest.request('POST /api/v2/mcp/auth:complete', { body: { flowId, ...(redirectUrl && { redirectUrl }) } });

export const cancelSignIn = (rest: Calls, flowId: string) =>
  rest.request('POST /api/v2/mcp/auth:cancel', { body: { flowId } });

export const signOut = (rest: Calls, locator: Locator, cwd: string) =>
  rest.request('POST /api/v2/mcp/auth:reset', { body: { ...locator, cwd } });
