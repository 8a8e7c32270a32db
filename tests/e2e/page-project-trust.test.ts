/** Settings of a project that need trust, on the built page in a real browser. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { launchBrowser, openPage } from '#support/browser.ts';
import { putFile } from '#support/mcp-config.ts';
import { spawnServer } from '#support/spawned-server.ts';

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

it('lists settings without effect after the first prompt, and trusts their directory or leaves it', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-page-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  // The name contains an invisible character.
  const project = join(root, 'pro\u200bject');
  await mkdir(join(project, 'inner'), { recursive: true });
  execFileSync('git', ['init', '--quiet', project]);
  await putFile(join(project, '.service-code/local.toml'), '[workspace]\nadditional_dir = ["/"]\n');
  const server = await spawnServer({ args: ['--demo'], home: join(root, 'home') });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { page, errors } = await openPage(browser, server);
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: join(project, 'inner') } });
  const { id } = z.object({ id: z.string() }).parse(data);
  await server.api('POST', `/sessions/${id}/profile`, { title: 'Trust' });
  await page.goto(`${server.url}/#/s/${id}`);
  await page.reload();
  const question = page.getByRole('group', { name: 'Trust this project?' });
  const composer = page.getByRole('textbox', { name: 'Prompt' });
  await composer.fill('Hello');
  await composer.press('Enter');
  await question.getByText('local.toml has no effect').waitFor(visible);
  await question.locator('code').getByText('pro<U+200B>ject').waitFor(visible);

  // After a refusal it is not displayed again in this tab.
  await question.getByRole('button', { name: 'Not now' }).click();
  await question.waitFor(hidden);
  const forget =
    'for (const key of Object.keys(sessionStorage)) key.includes(".untrusted.") && sessionStorage.removeItem(key)';
  await page.evaluate(forget);
  await page.reload();
  await question.getByRole('button', { name: 'Trust' }).click();
  await question.waitFor(hidden);
  const listed = await server.api('GET', '/workspaces');
  const { items } = z.object({ items: z.array(z.object({ id: z.string(), root: z.string() })) }).parse(listed.data);
  const workspace = items.find((item) => item.root === project);
  expect(await server.api('GET', `/workspaces/${workspace?.id}/trust`)).toMatchObject({ data: { trusted: true } });
  expect(errors).toEqual([]);
});
