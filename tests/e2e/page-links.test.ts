/** Links in the text of a model: which ones open, and the visible part of their targets. */
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { sends, startWebHost } from '#support/web-host.ts';

const built = useBuiltServer();
let page: Page;

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);

/** Draws `text` as the answer of a model. Returns the visible text, and the targets of its links. */
async function draw(text: string) {
  const session = await built.newSession();
  built.base.model.enqueue({ text: `${text}\n\nthe end` });
  await page.goto(`${built.server.url}/#/s/${session}`);
  await page.getByRole('textbox', { name: 'Prompt' }).fill('go');
  await page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
  const answer = page.locator('.markdown', { hasText: 'the end' });
  await answer.waitFor({ state: 'visible' });
  const links = await answer
    .locator('a')
    .evaluateAll((all) => all.map((one) => ['href', 'target', 'rel'].map((name) => one.getAttribute(name))));
  return { shown: (await answer.innerText()).replace(/\s*the end$/, ''), links };
}

const opened = (href: string) => [href, '_blank', 'noopener noreferrer'];

it('links lead to pages of other hosts and to mail addresses, and show their host', async () => {
  const { shown, links } = await draw(
    [
      '[Approve](http://evil.test/x?y) [the docs](https://docs.test:8443/guide) https://plain.test/a?b=1',
      '<https://angle.test> [https://same.test/](https://same.test/) [https://good.test/](https://evil.test/)',
      '[local](http://localhost:3000/app) [accounts](https://accounts.test@evil.test/) [p\u0430ge](https://p\u0430ge.test/)',
      '[https://accounts.test@evil.test/](https://accounts.test@evil.test/) <https://accounts.test@evil.test/>',
      '[write](mailto:a@b.test?bcc=e@f.test) <c@d.test> ![picture](https://images.test/p.png) [`code` **b**](https://x.test/)',
    ].join('\n\n'),
  );
  expect(shown.split(/\n+/)).toEqual([
    'Approve (evil.test) the docs (docs.test:8443) https://plain.test/a?b=1',
    'https://angle.test https://same.test/ https://good.test/ (evil.test)',
    'local (localhost:3000) accounts (evil.test) p\u0430ge (xn--pge-6cd.test)',
    'https://accounts.test@evil.test/ (evil.test) https://accounts.test@evil.test/ (evil.test)',
    'write (a@b.test?bcc=e@f.test) c@d.test picture (images.test) code b (x.test)',
  ]);
  expect(links).toEqual(
    [
      'http://evil.test/x?y',
      'https://docs.test:8443/guide',
      'https://plain.test/a?b=1',
      'https://angle.test',
      'https://same.test/',
      'https://evil.test/',
      'http://localhost:3000/app',
      'https://accounts.test@evil.test/',
      'https://xn--pge-6cd.test/',
      'https://accounts.test@evil.test/',
      'https://accounts.test@evil.test/',
      'mailto:a@b.test?bcc=e@f.test',
      'mailto:c@d.test',
      'https://images.test/p.png',
      'https://x.test/',
    ].map(opened),
  );
});

it('all other links are text', async () => {
  const { host: own, port } = new URL(built.server.url);
  const { shown, links } = await draw(
    [
      `[Approve](/#token=X) [file](/api/v1/fs:content?path=a) [own](http://${own}/#token=X) http://${own}/`,
      '[host](//evil.test/) [src/main.ts](src/main.ts) [top](#top) [call](tel:1) [get](ftp://f.test/) ![x](/y.png)',
      '[run](javascript:alert(1)) [open](vscode://file/x) README.md main.rs',
      `[here](http://127.1:${port}/#token=X) [there](http://localhost:${port}/#token=X)`,
    ].join('\n\n'),
  );
  expect(shown.split(/\n+/)).toEqual([
    `Approve (/#token=X) file (/api/v1/fs:content?path=a) own (http://${own}/#token=X) http://${own}/`,
    'host (//evil.test/) src/main.ts top (#top) call (tel:1) get (ftp://f.test/) x',
    '[run](javascript:alert(1)) open (vscode://file/x) README.md main.rs',
    `here (http://127.1:${port}/#token=X) there (http://localhost:${port}/#token=X)`,
  ]);
  expect(links).toEqual([]);
});

it('pages that a search has found show their host; those of this server are text', async () => {
  const host = await startWebHost();
  onTestFinished(() => host.close());
  const result = (title: string, url: string) => ({ title, url, snippet: '', site_name: 'Accounts', date: '' });
  const own = `http://127.0.0.1:${new URL(built.server.url).port}/#token=X`;
  const found = [
    result('accounts.test', 'https://accounts.test@evil.test/x'),
    result('https://plain.test/', 'https://plain.test/'),
    result('https://a@b.test/', 'https://a@b.test/'),
    result('own', own),
  ];
  host.on('/search', sends(JSON.stringify({ search_results: found })));
  const search = { base_url: `http://127.0.0.1:${host.port}/search`, api_key: 'k' };
  await built.ok('POST', '/config', { services: { search } });
  const session = await built.newSession();
  built.base.model.enqueue({ calls: [{ name: 'WebSearch', args: { query: 'accounts' } }] });
  await built.prompt(session, 'go');
  await page.goto(`${built.server.url}/#/s/${session}`);
  // The script has no answer, so the turn has failed and is folded.
  await page.locator('button[data-work][aria-expanded="false"]').click();
  await page.locator('[data-group] button.head').click();
  const card = page.locator('[data-tool="WebSearch"]');
  await card.getByRole('button', { name: /Search the web/ }).click();
  await card.locator('ol').waitFor({ state: 'visible' });
  expect(await card.locator('li').allInnerTexts()).toEqual([
    'accounts.test(evil.test)Accounts',
    'https://plain.test/Accounts',
    'https://a@b.test/(b.test)Accounts',
    `own(${own})Accounts`,
  ]);
  expect(await card.locator('a').count()).toBe(3);
});
