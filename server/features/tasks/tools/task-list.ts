/** TaskList: lists background tasks. */
import * as z from 'zod';
import { defineTool, type Tool } from '#server/tools/tool.ts';
import type { ListedTask } from '../listed-tasks.ts';
import { SEPARATOR, taskLines } from './texts.ts';

const MAX = 100;
const USUAL = 20;

const parameters = z.object({
  active_only: z.boolean().optional().describe('Only those that run. Default true.'),
  limit: z.int().min(1).max(MAX).optional().describe(`Tasks at most, the newest. Default ${USUAL}.`),
});

/** `tasks` returns the agent's tasks, oldest first. */
export function createTaskListTool(tasks: () => ListedTask[]): Tool {
  return defineTool({
    name: 'TaskList',
    permission: 'free',
    effects: 'none',
    description:
      'Lists tasks in the background: commands, subagents and questions. You are notified when one has ended; do not poll with this.',
    parameters,
    prepare({ active_only: activeOnly = true, limit = USUAL }) {
      return {
        accesses: [{ kind: 'all' }],
        label: activeOnly ? 'Listing running tasks' : 'Listing all tasks',
        subject: { text: activeOnly ? 'active' : 'all', match: 'glob' },
        async run() {
          const chosen = tasks().filter(({ info }) => !activeOnly || info.status === 'running');
          if (chosen.length === 0) return { output: activeOnly ? 'No task is running.' : 'There are no tasks.' };
          const shown = chosen.slice(-limit).map((task) => taskLines(task).join('\n'));
          const left = chosen.length - shown.length;
          return { output: [...shown, ...(left > 0 ? [`${left} older tasks are not shown.`] : [])].join(SEPARATOR) };
        },
      };
    },
  });
}
