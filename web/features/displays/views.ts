/** Views of calls with a display only: one line, optionally with data below it. */
import { textOf, type Args, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

const onTask = (verb: string) => (args: Args) => ({ verb, subject: textOf(args, 'task_id'), effect: 'reads' as const });

function waitFor(args: Args): ToolSummary {
  const { timeout } = args;
  const task = textOf(args, 'task_id') || 'the first task that ends';
  const most = typeof timeout === 'number' ? `, at most ${timeout} s` : '';
  return { verb: 'Wait for', subject: `${task}${most}`, prose: true, effect: 'reads' };
}

const namesIn = ({ names }: Args): string[] =>
  Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];

export const displayViews: ToolViews = {
  tools: {
    TaskList: () => ({ verb: 'List tasks', subject: '', effect: 'reads' }),
    TaskOutput: onTask('Read output'),
    WaitFor: waitFor,
    TaskStop: (args) => ({
      verb: 'Stop task',
      subject: [textOf(args, 'task_id'), textOf(args, 'reason')].filter(Boolean).join(': '),
    }),
    select_tools: (args) => ({ verb: 'Load tools', subject: namesIn(args).join(', '), effect: 'reads' }),
  },
  displays: {
    search: ({ query, scope }) => ({
      verb: 'Search',
      subject: [query, scope].filter(Boolean).join(' in '),
      effect: 'reads',
    }),
    url_fetch: ({ url, method }) => ({
      verb: 'Fetch',
      subject: method ? `${method} ${url}` : url,
      // Other methods may change something.
      ...((method ?? 'GET') === 'GET' && { effect: 'reads' as const }),
    }),
    task: ({ description, status }) => ({ verb: 'Task', subject: `${description} (${status})`, prose: true }),
    task_stop: ({ task_description }) => ({ verb: 'Stop task', subject: task_description, prose: true }),
    generic: ({ summary, detail }) => ({ verb: '', subject: summary, body: { kind: 'json', value: detail } }),
  },
};
