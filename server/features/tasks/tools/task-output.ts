/** TaskOutput: returns a task's output so far, or its result. */
import * as z from 'zod';
import { defineTool, failed, type Tool } from '#server/tools/tool.ts';
import type { ListedTask } from '../listed-tasks.ts';
import { noSuchTask, taskLines, terminalReason } from './texts.ts';

const PREVIEW_BYTES = 32 * 1024;

const parameters = z.object({ task_id: z.string().min(1).describe('The task, as the call that started it named it.') });

/** `find` searches the agent's tasks. */
export function createTaskOutputTool(find: (id: string) => ListedTask | undefined): Tool {
  return defineTool({
    name: 'TaskOutput',
    permission: 'free',
    effects: 'none',
    description: `Shows a task and the last ${PREVIEW_BYTES / 1024} KiB of its output, at once, whether it runs or has ended. All of a command's output is in output_path, for Read and Grep.`,
    parameters,
    prepare({ task_id: id }) {
      return {
        accesses: [{ kind: 'all' }],
        label: `Reading the output of ${id}`,
        subject: { text: id, match: 'glob' },
        async run() {
          const task = find(id);
          if (!task) return failed(noSuchTask(id));
          const output = await task.output(PREVIEW_BYTES);
          const ready = task.info.status !== 'running';
          return {
            output: [
              `retrieval_status: ${ready ? 'success' : 'not_ready'}`,
              ...taskLines(task),
              ...terminalReason(task.info),
              '',
              '[output]',
              output ?? 'No output yet.',
            ].join('\n'),
            truncated: true,
          };
        },
      };
    },
  });
}
