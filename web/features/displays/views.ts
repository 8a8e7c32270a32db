/** Views of calls with a display only: one line, optionally with data below it. */
import { t, type PlainKey } from '../../messages/messages.ts';
import { textOf, type Args, type ToolViews } from '../../render/tool-view.ts';

const onTask = (verb: PlainKey) => (args: Args) => ({
  verb: t(verb),
  subject: textOf(args, 'task_id'),
  effect: 'reads' as const,
});

export const displayViews: ToolViews = {
  tools: {
    TaskList: () => ({ verb: t('tools.listTasks'), subject: '', effect: 'reads' }),
    TaskOutput: onTask('tools.readOutput'),
    WaitFor: onTask('tools.waitFor'),
    TaskStop: (args) => ({ verb: t('tools.stopTask'), subject: textOf(args, 'task_id') }),
  },
  displays: {
    search: ({ query }) => ({ verb: t('tools.search'), subject: query, effect: 'reads' }),
    url_fetch: ({ url }) => ({ verb: t('tools.fetch'), subject: url, effect: 'reads' }),
    agent_call: ({ agent_name, prompt }) => ({
      verb: t('tools.agent'),
      subject: agent_name,
      body: { kind: 'json', value: prompt },
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
