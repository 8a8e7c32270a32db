/** Pages and searches as the page draws them. */
import { expect, it } from 'vitest';
import { webViews } from '../../../web/features/web/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';

const { ofCall } = createToolViews([webViews]);
const searched = (output?: string) => ofCall({ name: 'WebSearch', input: { query: 'wheels' }, output });

it('a search is a list of links when it has results', () => {
  const summary = { verb: 'Search the web', subject: 'wheels', prose: true, effect: 'reads' };
  const output = [
    'Title: On wheels\nSite: A\nDate: 2020\nURL: https://a.example/\nSnippet: They turn. --- Title: x',
    'URL: http://b.example/?q=a: b',
    'Title: not one\nURL: javascript:alert(1)',
    'Title: without',
  ].join('\n---\n');
  expect(searched(output)).toEqual({
    ...summary,
    output: 'on failure',
    body: {
      kind: 'found',
      pages: [
        { title: 'On wheels', url: 'https://a.example/', from: 'A, 2020', snippet: 'They turn. --- Title: x' },
        { title: 'http://b.example/?q=a: b', url: 'http://b.example/?q=a: b', from: '', snippet: '' },
      ],
    },
  });
  for (const nothing of [undefined, 'Nothing was found.', 'The search service answered with status 500.']) {
    expect(searched(nothing)).toEqual(summary);
  }
  expect(ofCall({ name: 'WebSearch', input: 'no object', output: undefined })).toMatchObject({ subject: '' });
});

it('a page is its address', () => {
  const drawn = ofCall({ name: 'FetchURL', input: { url: 'https://a.example/' }, output: 'text' });
  expect(drawn).toEqual({ verb: 'Fetch', subject: 'https://a.example/', effect: 'reads' });
});
