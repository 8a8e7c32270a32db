/** Views of calls with a display only: one line, optionally with data below it. */
import { textOf, type Args, type ToolViews } from '../../render/tool-view.ts';

const onTask = (verb: string) => (args: Args) => ({ verb, subject: textOf(args, 'task_id'), effect: 'reads' as const });

export const displayViews: ToolViews = {
  tools: {
    TaskList: () => ({ verb: 'List tasks', subject: '', effect: 'reads' }),
    TaskOutput: onTask('Read output'),
    WaitFor: onTask('Wait for'),
    TaskStop: (args) => ({ verb: 'Stop task', subject: textOf(args, 'task_id') }),
  },
  displays: {
    search: ({ query }) => ({ verb: 'Search', subject: query, effect: 'reads' }),
    url_fetch: ({ url }) => ({ verb: 'Fetch', subject: url, effect: 'reads' }),
    agent_call: ({ agent_name, prompt }) => ({
      verb: 'Agent',
      subject: agent_name,
      body: { kind: 'json', value: prompt },
    }),
    task: ({ description, status }) => ({ verb: 'Task', subject: `${description} (${status})`, prose: true }),
    task_stop: ({ task_description }) => ({ verb: 'Stop task', subject: task_description, prose: true }),
    generic: ({ summary, detail }) => ({ verb: '', subject: summary, body: { kind: 'json', value: detail } }),
  },
};
