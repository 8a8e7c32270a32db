/** The page below the path `/a/b/`, which a tunnel's OPEN sends as the prefix: from the first session to a review. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DESKTOP, expectAccessible } from '#support/accessibility.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
import { remoteCloudDuringTest } from '#support/cloud/remote-home.ts';
import { startRemote } from '#support/cloud/remote-server.ts';
import { startModelServer } from '#support/model-server.ts';
import { answer, locatorsOf, visible } from '#support/page-locators.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const webDirectory = resolve(import.meta.dirname, '../../web/dist');

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

it('starts a session, approves a change and reviews it, with every request below the prefix', async () => {
  const model = await startModelServer();
  onTestFinished(model.close);
  const home = await temporaryHome();
  const project = join(home, 'project');
  await mkdir(project);
  execFileSync('git', ['init', '--quiet', project]);
  await writeFile(join(home, 'config.toml'), stringify(model.providerConfig()));
  const cloud = await remoteCloudDuringTest({ publicPath: '/a/b' });
  const remote = await startRemote({ home, cloud, webDirectory });
  expect(await remote.start()).toMatchObject({ data: { state: 'on' } });
  await remote.server.api('POST', '/workspaces', { root: project, name: 'Far away' });

  const { token } = remote.server;
  const { page, errors, requests } = await openPage(
    browser,
    { url: `${remote.relay.url}/a/b/`, token },
    { viewport: DESKTOP },
  );
  onTestFinished(() => page.context().close());
  const on = locatorsOf(page);
  await page.getByRole('main').getByRole('button', { name: 'New session' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Far away' }).click();
  model.enqueue({ calls: [{ name: 'Bash', args: { command: 'echo one > made.txt' } }] });
  model.enqueue({ calls: [{ name: 'Write', args: { path: 'written.txt', content: 'one\ntwo\n' } }] });
  model.enqueue({ text: 'Made and written.' });
  await on.prompt().fill('Make it');
  await on.prompt().press('Enter');
  const end = page.getByText('Made and written.');
  for (;;) {
    await on.approve().or(end).first().waitFor(visible);
    if (await end.isVisible()) break;
    const label = await on.card().getAttribute('aria-label');
    await answer(page.getByRole('group', { name: label ?? '', exact: true }));
  }
  expect(new URL(page.url()).pathname).toBe('/a/b/');
  await page.keyboard.press('Control+Shift+D');
  await page.getByRole('tab', { name: 'Work tree' }).click();
  await page.getByRole('list', { name: 'Changed files' }).getByRole('button', { name: 'made.txt' }).click();
  await page.getByRole('option', { name: 'added: one' }).waitFor(visible);
  await expectAccessible(page);
  await page.reload();
  await end.waitFor(visible);
  expect(requests.filter((request) => !request.includes(' /a/b/'))).toEqual([]);
  expect(errors).toEqual([]);
});
