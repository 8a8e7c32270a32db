/** The page when the token of its server is replaced. Build first. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { rotateToken } from '#server/auth/token.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
import { until } from '#support/patience.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

type Browser = Awaited<ReturnType<typeof launchBrowser>>;
type Opened = Awaited<ReturnType<typeof openPage>>;

let server: SpawnedServer;
let browser: Browser;
let opened: Opened;
beforeEach(async () => {
  server = await spawnServer();
  browser = await launchBrowser();
  opened = await openPage(browser, server);
  await newSession().waitFor();
  // Requests of the page's start must not meet the new token.
  await opened.page.waitForLoadState('networkidle');
});
afterEach(async () => {
  await browser.close();
  await server.close();
});

const newSession = () => opened.page.getByRole('button', { name: 'New session', exact: true }).first();
const question = () => opened.page.getByRole('heading', { name: 'This server needs its token' });

const listed = z.object({ data: z.object({ connections: z.array(z.object({ id: z.string() })) }) });

/** Ids of the open connections. */
async function connections(token: string): Promise<string[]> {
  const response = await fetch(`${server.url}/api/v1/connections`, { headers: { authorization: `Bearer ${token}` } });
  return listed.parse(await response.json()).data.connections.map(({ id }) => id);
}

it('prompts for the new token without offering the old one again, and continues with it', async () => {
  const token = await rotateToken(server.home);
  await question().waitFor();
  // The browser reports each refused request.
  expect(opened.errors).toEqual([]);
  await opened.page.getByRole('textbox', { name: 'Token' }).fill(token);
  await opened.page.keyboard.press('Enter');
  await question().waitFor({ state: 'hidden' });
  await until(async () => (await connections(token)).length === 1, 'the connection with the new token');
  expect(opened.errors).toEqual([]);
});

it('reconnects with the new token when it already has it', async () => {
  const [before] = await until(async () => {
    const open = await connections(server.token);
    return open.length === 1 && open;
  });
  const token = await rotateToken(server.home);
  await opened.page.evaluate(`location.hash = '#token=${token}'`);
  await until(async () => {
    const open = await connections(token);
    return open.length === 1 && open[0] !== before;
  }, 'another connection');
  expect(await question().isVisible()).toBe(false);
  expect(opened.errors).toEqual([]);
});
