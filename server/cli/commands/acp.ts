/** `service-code acp`: the agent of an editor, over stdin and stdout. */
import * as z from 'zod';
import { readArguments, usageText, type CommandDefinition } from '#server/cli/arguments.ts';
import { findServer, serverArgs, serverOptions } from '#server/cli/find-server.ts';
import { transportOf } from '#server/cli/transport.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { runAcp } from '../../../clients/acp/main.ts';
import type { Command } from './command.ts';

const schema = serverOptions.extend({ _: z.array(z.never(), 'none is expected') });

const definition: CommandDefinition<z.infer<typeof schema>> = {
  name: 'acp',
  description: 'Be the agent of an editor (Agent Client Protocol over stdin and stdout)',
  args: serverArgs,
  schema,
};

/** Aborted by the editor's end of the process. */
function endSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => controller.abort());
  return controller.signal;
}

export const acp: Command = {
  help: () => usageText(definition.name, definition.description, definition.args),
  async run(argv, program) {
    const options = readArguments(argv, definition);
    const signal = endSignal();
    const server = await findServer(options, program);
    try {
      await runAcp({
        url: server.url,
        token: server.token ?? '',
        ...(await transportOf(server)),
        version: SERVER_VERSION,
        input: process.stdin,
        output: process.stdout,
        log: (text) => void process.stderr.write(`${text}\n`),
        signal,
      });
      return 0;
    } finally {
      await server.close();
    }
  },
};
