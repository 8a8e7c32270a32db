/** `service-code acp`: a bridge between an editor and a server, over stdin and stdout. */
import { Console } from 'node:console';
import * as z from 'zod';
import { readArguments, usageText, type CommandDefinition } from '#server/cli/arguments.ts';
import { findServer, serverArgs, serverOptions, type ServerChoice } from '#server/cli/find-server.ts';
import { transportOf } from '#server/cli/transport.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { runAcp } from '../../../clients/acp/main.ts';
import { limitYoungGeneration } from '../../../clients/acp/process-memory.ts';
import type { Command } from './command.ts';

const definition: CommandDefinition<ServerChoice> = {
  name: 'acp',
  description: 'Serve an editor: the Agent Client Protocol over stdin and stdout',
  args: serverArgs,
  schema: serverOptions.extend({ _: z.array(z.never(), 'none is expected') }),
};

export const acp: Command = {
  help: () => usageText(definition.name, definition.description, serverArgs),
  async run(argv, program) {
    const options = readArguments(argv, definition);
    // Only messages of the protocol reach stdout, also if a package prints something.
    globalThis.console = new Console(process.stderr, process.stderr);
    const stop = new AbortController();
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());
    const server = await findServer(options, program);
    if (!server.isOwn) limitYoungGeneration();
    try {
      await runAcp({
        ...(await transportOf(server)),
        url: server.url,
        token: server.token ?? '',
        version: SERVER_VERSION,
        input: process.stdin,
        output: process.stdout,
        log: (text) => void process.stderr.write(`${text}\n`),
        signal: stop.signal,
      });
      return 0;
    } finally {
      await server.close();
    }
  },
};
