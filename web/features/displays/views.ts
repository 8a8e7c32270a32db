/** Views of calls with a display only: one line, optionally with data below it. */
import type { ToolViews } from '../../render/tool-view.ts';

export const displayViews: ToolViews = {
  displays: {
    search: ({ query }) => ({ verb: 'Search', subject: query }),
    url_fetch: ({ url }) => ({ verb: 'Fetch', subject: url }),
    agent_call: ({ agent_name, prompt }) => ({
      verb: 'Agent',
      subject: agent_name,
      body: { kind: 'json', value: prompt },
    }),
    generic: ({ summary, detail }) => ({ verb: '', subject: summary, body: { kind: 'json', value: detail } }),
  },
};
