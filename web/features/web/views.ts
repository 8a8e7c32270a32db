/** Views of pages and searches: search results as a list of links, a page as its address and text. */
import { t } from '../../messages/messages.ts';
import { textOf, type ToolViews } from '../../render/tool-view.ts';
import { outputText } from '../../state/tool-call.ts';

export interface FoundPage {
  title: string;
  url: string;
  /** Site and date, where present. */
  from: string;
  snippet: string;
}
export type FoundBody = { kind: 'found'; pages: FoundPage[] };

/** The pages in a result, whose blocks have one member in each line; blocks without a web address are omitted. */
export function foundPages(output: string): FoundPage[] {
  return output.split('\n---\n').flatMap((block) => {
    const members = new Map(
      block.split('\n').map((line) => {
        const [, name = '', text = ''] = /^(\w+): (.*)$/.exec(line) ?? [];
        return [name, text];
      }),
    );
    const url = members.get('URL') ?? '';
    if (!/^https?:\/\//i.test(url)) return [];
    const from = [members.get('Site'), members.get('Date')].filter(Boolean).join(', ');
    return [{ title: members.get('Title') ?? url, url, from, snippet: members.get('Snippet') ?? '' }];
  });
}

export const webViews: ToolViews = {
  tools: {
    FetchURL: (args) => ({ verb: t('tools.fetch'), subject: textOf(args, 'url'), effect: 'reads' }),
    WebSearch(args, { output }) {
      const summary = {
        verb: t('tools.searchWeb'),
        subject: textOf(args, 'query'),
        prose: true,
        effect: 'reads',
      } as const;
      const pages = output === undefined ? [] : foundPages(outputText(output));
      if (pages.length === 0) return summary;
      const body: FoundBody = { kind: 'found', pages };
      return { ...summary, body, output: 'on failure' };
    },
  },
};
