/** The page below the path `/a/b/`, which a tunnel's OPEN sends as the prefix: from the first session to a review. */
import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DESKTOP } from '#support/accessibility.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
import { remoteCloudDuringTest } from '#support/cloud/remote-home.ts';
import { startRemote } from '#support/cloud/remote-server.ts';
import { startModelServer } from '#support/model-server.ts';
import { homeWithProject, makeAndReview } from '#support/review-journey.ts';
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
  const root = await homeWithProject(home, model);
  const cloud = await remoteCloudDuringTest({ publicPath: '/a/b' });
  const remote = await startRemote({ home, cloud, webDirectory });
  expect(await remote.start()).toMatchObject({ data: { state: 'on' } });
  await remote.server.api('POST', '/workspaces', { root, name: 'Far away' });

  const { token } = remote.server;
  const { page, errors, requests } = await openPage(
    browser,
    { url: `${remote.relay.url}/a/b/`, token },
    { viewport: DESKTOP },
  );
  onTestFinished(() => page.context().close());
  await makeAndReview(page, { model, workspace: 'Far away' });
  expect(new URL(page.url()).pathname).toBe('/a/b/');
  expect(requests.filter((request) => !request.includes(' /a/b/'))).toEqual([]);
  expect(errors).toEqual([]);
});
