/** `service-code`: starts a server and runs it until it is stopped. */
import { parseStart, startUsage } from '#server/cli/options.ts';
import { createStopRequest, runServer } from '#server/cli/start.ts';
import { SERVER_VERSION } from '#server/version.ts';
import type { Command } from './command.ts';

export const start: Command = {
  help: startUsage,
  async run(argv, { open }) {
    if (argv.includes('--version') || argv.includes('-v')) {
      process.stdout.write(`${SERVER_VERSION}\n`);
      return 0;
    }
    const options = parseStart(argv);
    const stop = createStopRequest();
    const { app, served } = await open(options);
    await runServer(app, served, options, stop);
    return 0;
  },
};
