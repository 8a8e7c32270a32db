/** How the program of a stdio server is started. */
import { resolve } from 'node:path';
import { childEnvironment } from '#server/processes/child-environment.ts';
import type { McpServerConfig } from '#schema/mcp-server.ts';

type StdioConfig = Extract<McpServerConfig, { command: string }>;

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** `root` is the directory of the workspace; of the server's environment the child gets all but the secrets. */
export function childOf(
  { command, args = [], env = {}, cwd = '.' }: StdioConfig,
  root: string,
  own: NodeJS.ProcessEnv,
) {
  return {
    file: command,
    args,
    cwd: resolve(root, cwd),
    env: withLoopback({ ...childEnvironment(own), ...env }),
  };
}

/** A program that is told of a proxy must still reach what runs beside it. */
function withLoopback(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const spelled = (name: string) => [name, name.toLowerCase()];
  if (!PROXIES.flatMap(spelled).some((name) => env[name])) return env;
  const listed = (env.no_proxy ?? env.NO_PROXY ?? '').split(',').flatMap((entry) => entry.trim() || []);
  const noProxy = [...new Set([...listed, ...LOOPBACK])].join(',');
  return { ...env, NO_PROXY: noProxy, no_proxy: noProxy };
}
