/** Views of the calls that create, list and delete scheduled jobs. */
import { firstLine, textOf, type ToolViews } from '../../render/tool-view.ts';

export const cronViews: ToolViews = {
  tools: {
    CronCreate: (args, { input }) => ({
      verb: 'Schedule',
      subject: firstLine([textOf(args, 'cron'), textOf(args, 'prompt')].filter(Boolean).join(': ')),
      prose: true,
      body: input === undefined ? undefined : { kind: 'json', value: input },
    }),
    CronList: () => ({ verb: 'Scheduled', subject: '', effect: 'reads' }),
    CronDelete: (args) => ({ verb: 'Unschedule', subject: textOf(args, 'id') }),
  },
};
