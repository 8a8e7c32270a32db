/** Expands the placeholders of a config when its server is started. The result is neither stored nor published. */
import { childEnvironment } from '#server/processes/child-environment.ts';
import { PLACEHOLDER, type McpServerConfig } from '#schema/config/mcp-server.ts';

/** Secrets of this server are treated as unset. Throws for a variable that is unset and has no default. */
function expandText(text: string, variables: NodeJS.ProcessEnv): string {
  return text.replace(PLACEHOLDER, (_all, name: string, fallback: string | undefined) => {
    const value = variables[name];
    // As in a shell, a default also replaces an empty value.
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw new Error(`environment variable ${name} is not set`);
  });
}

/**
 * Returns the config to run, with `${NAME}` and `${NAME:-text}` of `command`, `args`, `env`, `url` and `headers`
 * replaced. Throws with the reason for people: an unset variable, an invalid URL.
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
  // The expanded URL may contain a secret, so the message does not quote it.
  if (!URL.canParse(url)) throw new Error('the URL of the server is invalid');
  return { ...config, url, ...(headers && { headers: map(headers) }) };
}
