/** Links in the text of a model: which ones open, and what is visible of where they lead. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';

const built = useBuiltServer();
let page: Page;

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);

/** Draws `text` as the answer of a model. Returns what is visible, and the targets of its links. */
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
      '[write](mailto:a@b.test?subject=x) <c@d.test> ![picture](https://images.test/p.png) [`code` **b**](https://x.test/)',
    ].join('\n\n'),
  );
  expect(shown.split(/\n+/)).toEqual([
    'Approve (evil.test) the docs (docs.test:8443) https://plain.test/a?b=1',
    'https://angle.test https://same.test/ https://good.test/ (evil.test)',
    'local (localhost:3000) accounts (evil.test) p\u0430ge (xn--pge-6cd.test)',
    'write (a@b.test) c@d.test picture (images.test) code b (x.test)',
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
      'mailto:a@b.test?subject=x',
      'mailto:c@d.test',
      'https://images.test/p.png',
      'https://x.test/',
    ].map(opened),
  );
});

it('everything else is text', async () => {
  const own = new URL(built.server.url).host;
  const { shown, links } = await draw(
    [
      `[Approve](/#token=X) [file](/api/v1/fs:content?path=a) [own](http://${own}/#token=X) http://${own}/`,
      '[host](//evil.test/) [src/main.ts](src/main.ts) [top](#top) [call](tel:1) [get](ftp://f.test/) ![x](/y.png)',
      '[run](javascript:alert(1)) [open](vscode://file/x) README.md main.rs',
    ].join('\n\n'),
  );
  expect(shown.split(/\n+/)).toEqual([
    `Approve (/#token=X) file (/api/v1/fs:content?path=a) own (http://${own}/#token=X) http://${own}/`,
    'host (//evil.test/) src/main.ts top (#top) call (tel:1) get (ftp://f.test/) x (/y.png)',
    '[run](javascript:alert(1)) open (vscode://file/x) README.md main.rs',
  ]);
  expect(links).toEqual([]);
});
