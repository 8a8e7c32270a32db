/** TaskStop: stops one of the agent's tasks. */
import * as z from 'zod';
import { defineTool, failed, type Tool } from '#server/tools/tool.ts';
import type { ListedTask } from '../listed-tasks.ts';
import { noSuchTask } from './texts.ts';

const REASON_CHARS = 300;

const parameters = z.object({
  task_id: z.string().min(1).describe('The task, as the call that started it named it.'),
  reason: z.string().optional().describe('Why, in a few words, for people.'),
});

/** `find` searches the agent's tasks. */
export function createTaskStopTool(find: (id: string) => ListedTask | undefined): Tool {
  return defineTool({
    name: 'TaskStop',
    permission: 'ask',
    effects: 'outside',
    description: 'Ends a task with everything it started. You are not notified of that end.',
    parameters,
    prepare({ task_id: id, reason }) {
      return {
        accesses: [{ kind: 'all' }],
        label: `Stopping ${id}`,
        subject: { text: id, match: 'glob' },
        async run({ tasks }) {
          const task = find(id);
          if (!task) return failed(noSuchTask(id));
          if (task.info.status !== 'running') {
            if (await task.endLost?.()) return { output: `task_id: ${id}\nstatus: killed` };
            return { output: `task_id: ${id}\nstatus: ${task.info.status}\nIt had ended already.` };
          }
          const why = reason?.trim().slice(0, REASON_CHARS);
          await tasks.stop(id, { status: 'killed', by: 'agent', reason: why || 'stopped by the agent', silent: true });
          return { output: `task_id: ${id}\nstatus: ${find(id)?.info.status ?? 'killed'}` };
        },
      };
    },
  });
}
