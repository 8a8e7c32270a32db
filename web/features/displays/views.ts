/** Views of calls with a display only: one line, optionally with data below it. */
import { t, type PlainKey } from '../../messages/messages.ts';
import { textOf, type Args, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

const onTask = (verb: PlainKey) => (args: Args) => ({
  verb: t(verb),
  subject: textOf(args, 'task_id'),
  effect: 'reads' as const,
});

function waitFor(args: Args): ToolSummary {
  const { timeout } = args;
  const seconds = typeof timeout === 'number' ? timeout : undefined;
  const subject = t('tools.waitedFor', { task: textOf(args, 'task_id') || undefined, seconds });
  return { verb: t('tools.waitFor'), subject, prose: true, effect: 'reads' };
}

const namesIn = ({ names }: Args): string[] =>
  Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];

export const displayViews: ToolViews = {
  tools: {
    TaskList: () => ({ verb: t('tools.listTasks'), subject: '', effect: 'reads' }),
    TaskOutput: onTask('tools.readOutput'),
    WaitFor: waitFor,
    TaskStop: (args) => ({
      verb: t('tools.stopTask'),
      subject: [textOf(args, 'task_id'), textOf(args, 'reason')].filter(Boolean).join(': '),
    }),
    select_tools: (args) => ({ verb: t('tools.loadTools'), subject: namesIn(args).join(', '), effect: 'reads' }),
  },
  displays: {
    search: ({ query, scope }) => ({
      verb: t('tools.search'),
      subject: scope ? t('tools.whatIn', { what: query, path: scope }) : query,
      effect: 'reads',
    }),
    url_fetch: ({ url, method }) => ({
      verb: t('tools.fetch'),
      subject: method ? `${method} ${url}` : url,
      // Other methods may change something.
      ...((method ?? 'GET') === 'GET' && { effect: 'reads' as const }),
    }),
    task: ({ description, status }) => ({
      verb: t('tools.task'),
      subject: t('tools.taskState', { description, status }),
      prose: true,
    }),
    task_stop: ({ task_description }) => ({ verb: t('tools.stopTask'), subject: task_description, prose: true }),
    generic: ({ summary, detail }) => ({ verb: '', subject: summary, body: { kind: 'json', value: detail } }),
  },
};
