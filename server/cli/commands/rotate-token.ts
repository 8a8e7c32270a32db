/** `service-code rotate-token`: replaces the token and prints the new one, with the URLs of a running server. */
import * as z from 'zod';
import { rotateToken as replaceToken } from '#server/auth/token.ts';
import { readArguments, usageText, type CommandDefinition } from '#server/cli/arguments.ts';
import { accessUrls } from '#server/cli/access-urls.ts';
import { openHome } from '#server/home/home.ts';
import { listInstances } from '#server/home/instances.ts';
import type { Command } from './command.ts';

const args = {
  'keep-connections': { type: 'boolean', description: 'Do not close connections that used the old token' },
} as const;

const definition: CommandDefinition<{ 'keep-connections': boolean }> = {
  name: 'rotate-token',
  description:
    'Replace the bearer token; running servers adopt the new one and close connections that used the old one',
  args,
  schema: z.object({ 'keep-connections': z.boolean().default(false), _: z.array(z.never(), 'none is expected') }),
};

export const rotateToken: Command = {
  help: () => usageText(definition.name, definition.description, args),
  async run(argv, { home }) {
    const { 'keep-connections': keepConnections } = readArguments(argv, definition);
    await openHome(home);
    const token = await replaceToken(home, { keepConnections });
    const [instance] = await listInstances(home);
    const lines = [token];
    if (instance) {
      const { host, port, base_path: basePath = '', certificate } = instance;
      lines.push(...accessUrls(host, port, token, { basePath, secure: certificate !== undefined }));
    }
    process.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  },
};
