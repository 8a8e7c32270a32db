/** Views of the calls that create, list and delete scheduled jobs. */
import { t } from '../../messages/messages.ts';
import { firstLine, textOf, type ToolViews } from '../../render/tool-view.ts';

export const cronViews: ToolViews = {
  tools: {
    CronCreate: (args, { input }) => ({
      verb: t('tools.schedule'),
      subject: firstLine([textOf(args, 'cron'), textOf(args, 'prompt')].filter(Boolean).join(': ')),
      prose: true,
      body: input === undefined ? undefined : { kind: 'json', value: input },
    }),
    CronList: () => ({ verb: t('tools.scheduled'), subject: '', effect: 'reads' }),
    CronDelete: (args) => ({ verb: t('tools.unschedule'), subject: textOf(args, 'id') }),
  },
};
