/** A server in the form: all fields are text. */
import type { McpServerConfig } from '@service-code/client';
import { t } from '../../messages/messages.ts';
import { ExplainedError } from '../../messages/problem.ts';

export interface ServerForm {
  name: string;
  transport: McpServerConfig['transport'];
  command: string;
  /** One for each line. */
  args: string;
  /** `NAME=value`, one for each line. */
  env: string;
  cwd: string;
  url: string;
  /** `Name: value`, one for each line. */
  headers: string;
  bearerTokenEnvVar: string;
  enabled: boolean;
}

export const emptyForm = (): ServerForm => ({
  name: '',
  transport: 'stdio',
  command: '',
  args: '',
  env: '',
  cwd: '',
  url: '',
  headers: '',
  bearerTokenEnvVar: '',
  enabled: true,
});

const linesOf = (map: Record<string, string> | undefined, between: string) =>
  Object.entries(map ?? {})
    .map(([name, value]) => `${name}${between}${value}`)
    .join('\n');

/** Fills the form from an editable server, which contains all values. */
export function formOf(name: string, config: McpServerConfig): ServerForm {
  const common = { ...emptyForm(), name, transport: config.transport, enabled: config.enabled !== false };
  if (config.transport === 'stdio') {
    const { command, args = [], env, cwd = '' } = config;
    return { ...common, command, args: args.join('\n'), env: linesOf(env, '='), cwd };
  }
  const { url, headers, bearerTokenEnvVar = '' } = config;
  return { ...common, url, headers: linesOf(headers, ': '), bearerTokenEnvVar };
}

const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

/** Throws with the invalid line. */
function mapOf(text: string, between: '=' | ':'): Record<string, string> | undefined {
  const pairs = lines(text).map((line) => {
    const at = line.indexOf(between);
    if (at < 1) throw new ExplainedError(t('mcp.badLine', { line: line.trim(), between }));
    return [line.slice(0, at).trim(), between === ':' ? line.slice(at + 1).trim() : line.slice(at + 1)] as const;
  });
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/** Preserves members of `before` that the form does not display. Throws with the reason for people. */
export function configOf(form: ServerForm, before?: McpServerConfig): McpServerConfig {
  const { enabled: _enabled, startupTimeoutMs, toolTimeoutMs, enabledTools, disabledTools } = before ?? {};
  const kept = {
    ...(startupTimeoutMs !== undefined && { startupTimeoutMs }),
    ...(toolTimeoutMs !== undefined && { toolTimeoutMs }),
    ...(enabledTools && { enabledTools }),
    ...(disabledTools && { disabledTools }),
    ...(!form.enabled && { enabled: false }),
  };
  if (form.transport === 'stdio') {
    const args = lines(form.args);
    const env = mapOf(form.env, '=');
    const cwd = form.cwd.trim();
    const runtime = before?.transport === 'stdio' ? before.runtime_id : undefined;
    return {
      transport: 'stdio',
      command: form.command.trim(),
      ...(args.length > 0 && { args }),
      ...(env && { env }),
      ...(cwd !== '' && { cwd }),
      ...(runtime !== undefined && { runtime_id: runtime }),
      ...kept,
    };
  }
  const headers = mapOf(form.headers, ':');
  const bearerTokenEnvVar = form.bearerTokenEnvVar.trim();
  const auth = before && before.transport !== 'stdio' ? before.auth : undefined;
  return {
    transport: form.transport,
    url: form.url.trim(),
    ...(headers && { headers }),
    ...(bearerTokenEnvVar !== '' && { bearerTokenEnvVar }),
    ...(auth && { auth }),
    ...kept,
  };
}
