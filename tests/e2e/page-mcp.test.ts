/** MCP servers on the page: the built page on the built server, in a real browser. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { launchBrowser, openPage } from '#support/browser.ts';
import { putFile } from '#support/mcp-config.ts';
import { signIn, startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { writePlugin } from '#support/mcp-plugin.ts';
import { spawnServer } from '#support/spawned-server.ts';

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

it('requests trust, adds a server, signs in to it, edits and removes it', async () => {
  const root = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const guarded = await startOAuthMcpServer();
  const script = 'console.error("last words"); process.exit(3)';
  await putFile(join(root, 'project', '.mcp.json'), {
    mcpServers: { broken: { command: process.execPath, args: ['-e', script], env: { KEY: 'secret' } } },
  });
  const server = await spawnServer({ args: ['--demo'], home: join(root, 'home') });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { page, errors } = await openPage(browser, server);
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: join(root, 'project') } });
  const { id } = z.object({ id: z.string() }).parse(data);
  // From this update on the session is loaded.
  await server.api('POST', `/sessions/${id}/profile`, { title: 'Servers' });
  await page.goto(`${server.url}/#/s/${id}`);
  await page.reload();

  const question = page.getByRole('group', { name: 'Trust this project?' });
  await question.getByText('.mcp.json').waitFor(visible);
  await question.getByRole('button', { name: 'Trust' }).click();
  await question.waitFor(hidden);

  await page.getByRole('button', { name: 'MCP', exact: true }).click();
  const list = page.getByRole('list', { name: 'MCP servers' });
  const item = (name: string) => list.locator(':scope > li').filter({ hasText: name });
  await item('broken').getByRole('alert').filter({ hasText: 'last words' }).waitFor(visible);
  await item('broken').getByText('failed', { exact: true }).waitFor(visible);
  await item('broken').locator('summary').click();
  expect(await item('broken').getByRole('button', { name: 'Edit' }).count()).toBe(0);
  expect(await page.content()).not.toContain('secret');

  await page.getByRole('button', { name: 'Add a server' }).click();
  const form = page.getByRole('form', { name: 'Add an MCP server' });
  await form.getByLabel('Name').fill('guarded');
  await form.getByRole('button', { name: /^Transport/ }).click();
  await page.getByRole('menuitemradio', { name: 'HTTP', exact: true }).click();
  await form.getByLabel('URL').fill('nowhere');
  await form.getByRole('button', { name: 'Add' }).click();
  await form.getByRole('alert').getByText('Invalid URL').waitFor(visible);
  await form.getByLabel('URL').fill(guarded.url);
  await form.getByRole('button', { name: 'Add' }).click();

  await item('guarded').getByText('sign-in needed').waitFor(visible);
  await item('guarded').getByRole('button', { name: 'Sign in' }).click();
  const link = item('guarded').getByRole('link', { name: 'Open the sign-in page' });
  await link.waitFor(visible);
  await item('guarded')
    .getByText(`at ${new URL(guarded.url).host}, and come back`)
    .waitFor(visible);
  await signIn((await link.getAttribute('href')) ?? '');
  await item('guarded').getByText('2 tools').waitFor(visible);
  await item('guarded').locator('summary').click();
  await item('guarded').getByRole('list', { name: 'Tools of guarded' }).getByText('Looks.').waitFor(visible);
  await item('guarded').getByRole('button', { name: 'Test' }).click();
  await item('guarded').getByText('Available tools: 2').waitFor(visible);

  await item('guarded').getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('form', { name: 'Edit guarded' });
  await edit.getByRole('switch', { name: 'Enabled' }).click();
  await edit.getByRole('button', { name: 'Save' }).click();
  await item('guarded').getByText('disabled', { exact: true }).waitFor(visible);
  await item('guarded').locator('summary').click();
  await item('guarded').getByRole('button', { name: 'Remove' }).click();
  await item('guarded').getByRole('button', { name: 'Remove it' }).click();
  await item('guarded').waitFor(hidden);
  expect(errors).toEqual([]);
});

it('signs in to a server of a plugin, which cannot be edited', async () => {
  const root = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const guarded = await startOAuthMcpServer();
  const source = await writePlugin(join(root, 'tools'), { name: 'tools', mcpServers: { away: { url: guarded.url } } });
  const server = await spawnServer({ args: ['--demo'], home: join(root, 'home') });
  onTestFinished(() => server.close());
  expect(await server.api('POST', '/plugins', { source })).toMatchObject({ code: 0 });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { page, errors } = await openPage(browser, server);
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: root } });
  const { id } = z.object({ id: z.string() }).parse(data);
  await server.api('POST', `/sessions/${id}/profile`, { title: 'Servers' });
  await page.goto(`${server.url}/#/s/${id}`);
  await page.getByRole('button', { name: 'MCP', exact: true }).click();
  const item = page.getByRole('list', { name: 'MCP servers' }).locator(':scope > li');
  await item.getByText('plugin-tools:away').waitFor(visible);
  await item.getByRole('button', { name: 'Sign in' }).click();
  const link = item.getByRole('link', { name: 'Open the sign-in page' });
  await link.waitFor(visible);
  await signIn((await link.getAttribute('href')) ?? '');
  await item.getByText('2 tools').waitFor(visible);
  await item.locator('summary').click();
  await item.getByText('plugin tools', { exact: true }).waitFor(visible);
  expect(await item.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  await item.getByRole('button', { name: 'Sign out' }).click();
  await item.getByText('sign-in needed').waitFor(visible);
  expect(errors).toEqual([]);
});

it('marks hidden characters of a server’s name, program, origin and failure, and leaves other names unmarked', async () => {
  const root = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const cwd = join(root, 'pro\u200bject');
  const script = 'console.error("last\\u202e words"); process.exit(3)';
  await putFile(join(root, 'home', 'mcp.json'), { mcpServers: { קוד: { command: 'no-such-program' } } });
  await putFile(join(cwd, '.mcp.json'), {
    mcpServers: { 'gith\u202eub': { command: process.execPath, args: ['-e', script, 'a\u2067b'] } },
  });
  const server = await spawnServer({ args: ['--demo'], home: join(root, 'home') });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { page } = await openPage(browser, server);
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd } });
  const { id } = z.object({ id: z.string() }).parse(data);
  await server.api('POST', `/sessions/${id}/profile`, { title: 'Servers' });
  await page.goto(`${server.url}/#/s/${id}`);
  const question = page.getByRole('group', { name: 'Trust this project?' });
  await question.getByRole('button', { name: 'Trust' }).click();
  // The panel would list the servers before the trust is recorded.
  await question.waitFor(hidden);
  await page.getByRole('button', { name: 'MCP', exact: true }).click();
  const items = page.getByRole('list', { name: 'MCP servers' }).locator(':scope > li');
  const hostile = items.filter({ hasText: 'gith' });
  await hostile.getByRole('alert').filter({ hasText: 'last<U+202E> words' }).waitFor(visible);
  await hostile.locator('summary').click();
  for (const text of ['gith<U+202E>ub', 'a<U+2067>b', 'pro<U+200B>ject']) {
    await hostile.getByText(text).waitFor(visible);
  }
  expect(await hostile.locator('mark').count()).toBe(4);
  const plain = items.filter({ hasText: 'קוד' });
  await plain.waitFor(visible);
  expect(await plain.locator('mark').count()).toBe(0);
});
