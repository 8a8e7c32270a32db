/** The built program's start. Development starts in `plugins/development.ts`. */
import '#nitro-internal-pollyfills';
import { commandOf, requestsHelp } from '#server/cli/commands/commands.ts';
import type { Program } from '#server/cli/commands/command.ts';
import { homePath } from '#server/home/home.ts';
import { hideInheritedDescriptors } from '#server/processes/hidden-descriptors.ts';
import { endProcess } from '#server/processes/process-exit.ts';
import { startFailureText } from '#server/errors/start-error.ts';

async function main(): Promise<number> {
  hideInheritedDescriptors();
  const { command, argv } = await commandOf(process.argv.slice(2));
  if (requestsHelp(argv)) {
    process.stdout.write(`${await command.help()}\n`);
    return 0;
  }
  const home = homePath(process.env);
  // A command that uses a running server does not load the code of one.
  const open: Program['open'] = async (options) => (await import('./built-server.ts')).openServer(home, options);
  return command.run(argv, { home, open });
}

// The reader of the output may have closed it (`| head`); sessions must keep running, and the log file has what matters.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

main().then(
  // Whatever an idle library keeps open must not keep the process.
  (code) => endProcess(code),
  (error: unknown) => {
    process.stderr.write(`service-code: ${startFailureText(error)}\n`);
    return endProcess(1);
  },
);
