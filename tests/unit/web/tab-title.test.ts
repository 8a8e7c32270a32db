/** The title of the browser's tab. */
import { expect, it } from 'vitest';
import { tabTitle } from '../../../web/state/tab-title.ts';

it.each([
  [{ waiting: 0 }, 'Service Code'],
  [{ waiting: 0, serverTitle: 'Build host' }, 'Build host'],
  [{ waiting: 0, session: 'Fix the parser', workspace: 'compiler' }, 'Fix the parser · compiler'],
  [
    { waiting: 0, session: 'Fix the parser', workspace: 'compiler', serverTitle: 'Build host' },
    'Fix the parser · Build host',
  ],
  [{ waiting: 0, session: 'Fix the parser' }, 'Fix the parser'],
  [{ waiting: 2, session: 'Fix the parser', workspace: 'compiler' }, '(2) Fix the parser · compiler'],
  [{ waiting: 1 }, '(1) Service Code'],
])('%j is %j', (facts, title) => {
  expect(tabTitle({ ...facts, product: 'Service Code' })).toBe(title);
});
