/** Expands the placeholders of a config when its server is started. The result is neither stored nor published. */
import { childEnvironment } from '#server/processes/child-environment.ts';
import { PLACEHOLDER, type McpServerConfig } from '#schema/config/mcp-server.ts';
import type { ServerDefinition } from './layers.ts';

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
 * replaced; a command that `isPath` is left verbatim. Throws with the reason for people: an unset variable, an invalid
 * URL.
 */
export function expandConfig(
  config: McpServerConfig,
  env: NodeJS.ProcessEnv,
  isPath: (command: string) => boolean = () => false,
): McpServerConfig {
  const variables = childEnvironment(env);
  const text = (value: string) => expandText(value, variables);
  const map = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, text(value)]));

  if (config.transport === 'stdio') {
    const { command, args, env: own } = config;
    return {
      ...config,
      command: isPath(command) ? command : text(command),
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

/** The environment of a server: that of this one, and the variables of its plugin, which take precedence. */
export const environmentOf = ({ plugin }: ServerDefinition, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  plugin ? { ...env, ...plugin.variables } : env;

/** Returns name and address of a remote server; undefined for other servers. Throws as `expandConfig`. */
export function remoteAddress(definition: ServerDefinition, env: NodeJS.ProcessEnv) {
  if (definition.config.transport === 'stdio') return undefined;
  const config = definition.literal
    ? definition.config
    : expandConfig(definition.config, environmentOf(definition, env));
  if (config.transport === 'stdio') return undefined;
  return { name: definition.name, url: config.url, transport: config.transport, headers: config.headers ?? {} };
}
