/** Spawn parameters of a stdio server's program. */
import { resolve } from 'node:path';
import { childEnvironment } from '#server/processes/child-environment.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';

type StdioConfig = Extract<McpServerConfig, { command: string }>;

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/** `root` is the directory of the workspace. The child inherits the environment of this server without its secrets. */
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

/** Excludes loopback from a configured proxy, so that the program can still reach services of this machine. */
function withLoopback(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const spelled = (name: string) => [name, name.toLowerCase()];
  if (!PROXIES.flatMap(spelled).some((name) => env[name])) return env;
  const listed = (env.no_proxy ?? env.NO_PROXY ?? '').split(',').flatMap((entry) => entry.trim() || []);
  const noProxy = [...new Set([...listed, ...LOOPBACK])].join(',');
  return { ...env, NO_PROXY: noProxy, no_proxy: noProxy };
}
