/** Placeholders of a config, replaced when its server is started. What comes of it is neither stored nor shown. */
import { childEnvironment } from '#server/processes/child-environment.ts';
import { PLACEHOLDER, type McpServerConfig } from '#schema/mcp-server.ts';

/** The server's own secrets count as not set. Throws where a variable is missing that has no default. */
function expandText(text: string, variables: NodeJS.ProcessEnv): string {
  return text.replace(PLACEHOLDER, (_all, name: string, fallback: string | undefined) => {
    const value = variables[name];
    // As in a shell: a default stands for an empty value, too.
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw new Error(`environment variable ${name} is not set`);
  });
}

/**
 * The config as it is run, with `${NAME}` and `${NAME:-text}` of `command`, `args`, `env`, `url` and `headers` replaced.
 * Throws with the reason of a failed server: a variable that is not set, a URL that is none.
 */
export function expandConfig(config: McpServerConfig, env: NodeJS.ProcessEnv): McpServerConfig {
  const variables = childEnvironment(env);
  const text = (value: string) => expandText(value, variables);
  const map = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, text(value)]));

  if (config.transport === 'stdio') {
    const { command, args, env: own } = config;
    return {
      ...config,
      command: text(command),
      ...(args && { args: args.map(text) }),
      ...(own && { env: map(own) }),
    };
  }
  const { headers } = config;
  const url = text(config.url);
  // The text itself may hold a secret now.
  if (!URL.canParse(url)) throw new Error('the URL of the server is invalid');
  return { ...config, url, ...(headers && { headers: map(headers) }) };
}
