/** A process that exits while its Bash tool runs a command that ignores SIGTERM. Sends its parent the command's pid. */
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createServerHome } from '#server/home/server-home.ts';
import { bashTool } from '#server/builtin-tools/bash.ts';
import { tasksOf } from './tasks.ts';

const cwd = process.cwd();
const place = {
  runtime: createLocalRuntime(),
  sessionId: 's',
  agentId: 'main',
  cwd,
  additionalDirs: async () => [],
  readableDirs: () => Promise.resolve([]),
  sessionDir: cwd,
  home: createServerHome(cwd),
};
const environment = { ...place, activeTools: new Set(['Bash']) };
const checked = bashTool.check({ command: `trap '' TERM; echo $$; sleep 600` });
if ('problem' in checked) throw new Error(checked.problem);
const prepared = await checked.prepare(environment);
await prepared.run({
  ...environment,
  toolCallId: 'call_1',
  turnId: 0,
  signal: new AbortController().signal,
  finish: () => [],
  tasks: tasksOf(cwd),
  progress: ({ text }) => process.send?.(Number(text), () => process.exit(0)),
});
