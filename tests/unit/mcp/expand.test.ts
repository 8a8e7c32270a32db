import { expect, it } from 'vitest';
import { expandConfig } from '#server/mcp/config/expand.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';

const stdio = (config: Partial<Extract<McpServerConfig, { command: string }>>): McpServerConfig => ({
  transport: 'stdio',
  command: 'run',
  ...config,
});

it('replaces placeholders of command, args and env, and does not mutate its input', () => {
  const config = stdio({ command: '${BIN}/run', args: ['--key=${KEY}', '${A}${A}'], env: { '${A}': '${KEY}' } });
  expect(expandConfig(config, { BIN: '/opt', KEY: 'k', A: 'a' })).toEqual(
    stdio({ command: '/opt/run', args: ['--key=k', 'aa'], env: { '${A}': 'k' } }),
  );
  expect(config).toMatchObject({ command: '${BIN}/run', args: ['--key=${KEY}', '${A}${A}'] });
});

it('replaces placeholders of url and headers, in no other member', () => {
  const config: McpServerConfig = {
    transport: 'http',
    url: 'https://${HOST:-example.org}/mcp',
    headers: { Authorization: 'Bearer ${KEY}' },
    enabledTools: ['${KEY}'],
  };
  expect(expandConfig(config, { KEY: 'k' })).toEqual({
    ...config,
    url: 'https://example.org/mcp',
    headers: { Authorization: 'Bearer k' },
  });
});

it('uses a default for a missing or empty variable, and the value of any other', () => {
  const args = ['${A:-x}', '${B:-}', '${C}', '${D:-y z}'];
  expect(expandConfig(stdio({ args }), { A: '', C: '', D: 'd' })).toMatchObject({ args: ['x', '', '', 'd'] });
});

it('does not expand placeholders in inserted values', () => {
  expect(expandConfig(stdio({ args: ['${A}'] }), { A: '${B}' })).toMatchObject({ args: ['${B}'] });
});

it('fails by name for a variable that is not set', () => {
  expect(() => expandConfig(stdio({ args: ['${NO_SUCH}'] }), {})).toThrow('environment variable NO_SUCH is not set');
});

it("treats the server's own secrets as unset", () => {
  const env = { SERVICE_CODE_PASSWORD: 'p', SERVICE_X_API_KEY: 'k', OTHER_API_KEY: 'o' };
  const expand = (text: string) => expandConfig(stdio({ args: [text] }), env);
  expect(() => expand('${SERVICE_CODE_PASSWORD}')).toThrow('environment variable SERVICE_CODE_PASSWORD is not set');
  expect(expand('${SERVICE_X_API_KEY:-none}')).toMatchObject({ args: ['none'] });
  expect(expand('${OTHER_API_KEY}')).toMatchObject({ args: ['o'] });
});

it('refuses an invalid URL without quoting it', () => {
  const config: McpServerConfig = { transport: 'http', url: '${HOST}' };
  expect(() => expandConfig(config, { HOST: 'secret value' })).toThrow(/^the URL of the server is invalid$/);
});
