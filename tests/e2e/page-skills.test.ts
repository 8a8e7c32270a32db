/** Skills and commands on the page: the built page on the built server, with a scripted model. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { usePage, type OpenedPage } from '#support/browser.ts';
import { putFile } from '#support/files.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let model: ModelServer;
let server: SpawnedServer;
let root: string;
let project: string;
let page: Page;
let requests: OpenedPage['requests'];
let session: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  project = join(root, 'project');
  model = await startModelServer();
  await putFile(
    join(root, 'home', 'config.toml'),
    stringify({ ...model.providerConfig(), builtin_product_skills: false }),
  );
  await putFile(
    join(project, '.service-code/skills/greet/SKILL.md'),
    '---\nname: greet\ndescription: Say hello to <person>\narguments: who\n---\nSay hello to $who.\n',
  );
  await putFile(
    join(project, '.service-code/skills/facts/SKILL.md'),
    '---\nname: greet-facts\ndescription: Facts\ntype: reference\n---\nFacts.\n',
  );
  server = await spawnServer({ home: join(root, 'home') });
});
afterEach(async () => {
  await server.close();
  await model.close();
  await rm(root, { recursive: true, force: true });
});
usePage(
  () => server,
  (opened) => ({ page, requests } = opened),
);
beforeEach(async () => {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: project } });
  session = z.object({ id: z.string() }).parse(data).id;
  await page.goto(`${server.url}/#/s/${session}`);
  await field().waitFor(visible);
});

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const field = () => page.getByRole('textbox', { name: 'Prompt' });
const list = () => page.getByRole('listbox', { name: 'Skills and commands' });
const option = (name: string) => list().getByRole('option', { name });
const log = () => page.getByRole('log');
const lastRequest = () => JSON.stringify(model.requests.at(-1)?.body['messages']);

async function typeText(text: string) {
  await field().fill('');
  await field().focus();
  await page.keyboard.type(text);
}

it('completes a skill by keyboard, and activates it with arguments and attachments', async () => {
  await typeText('/');
  await option('/greet').waitFor(visible);
  expect(await list().getByRole('option', { name: /^\// }).count()).toBe(1);
  await list().getByText('<person>', { exact: true }).waitFor(visible);
  expect(await field().getAttribute('aria-activedescendant')).toBe(await option('/greet').getAttribute('id'));
  // The list is read each time it opens.
  await page.keyboard.press('Escape');
  await list().waitFor({ state: 'detached' });
  await putFile(join(project, '.service-code/skills/later.md'), '---\ndescription: Added later\n---\nLater.\n');
  await typeText('/');
  await option('/later').waitFor(visible);
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => option('/later').getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.type('grt');
  await option('/later').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  expect(await field().inputValue()).toBe('/greet ');
  await list().waitFor({ state: 'detached' });
  await page.keyboard.type('bob');
  // A caret in the name opens the list again; the arguments stay.
  for (let index = 0; index < 5; index += 1) await page.keyboard.press('ArrowLeft');
  await option('/greet').waitFor(visible);
  await page.keyboard.press('Tab');
  expect(await field().inputValue()).toBe('/greet bob');
  const data = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['a note'], 'note.txt', { type: 'text/plain' }));
    return transfer;
  })()`);
  await field().dispatchEvent('drop', { dataTransfer: data });
  const attachment = page.getByRole('list', { name: 'Attachments' });
  await attachment.getByText('note.txt').waitFor(visible);
  await attachment.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
  await field().focus();
  model.enqueue({ text: 'Hello Bob.' });
  await page.keyboard.press('Enter');
  await log().getByText('Hello Bob.').waitFor(visible);
  expect(await field().inputValue()).toBe('');
  expect(lastRequest()).toContain('Say hello to bob.');
  expect(lastRequest()).toContain('note.txt');
  await log().getByRole('article', { name: 'You' }).getByText('/greet bob').waitFor(visible);
  const card = log().locator('[data-activation]');
  await card.getByText('greet bob').waitFor(visible);
  expect(await card.getByText('Say hello to bob.').count()).toBe(0);
  await card.getByRole('button').click();
  await card.getByText('.service-code/skills/greet/SKILL.md', { exact: true }).waitFor(visible);
  await card.getByText('Say hello to bob.').waitFor(visible);
});

it('sends a text with an unknown name as a prompt, and keeps the text of a failed activation', async () => {
  model.enqueue({ text: 'It is.' });
  await typeText('/usr/bin is full');
  await page.keyboard.press('Enter');
  await log().getByText('It is.').waitFor(visible);
  expect(lastRequest()).toContain('/usr/bin is full');
  expect(requests.filter((one) => one.includes(':activate'))).toEqual([]);

  await page.route('**/skills/greet:activate', (route) =>
    route.fulfill({ json: { code: 40415, msg: 'Skill "greet" was not found', data: null, request_id: 'r' } }),
  );
  await typeText('/greet bob');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('Skill "greet" was not found').waitFor(visible);
  expect(await field().inputValue()).toBe('/greet bob');
});

it('activates while a turn runs, and the command of a plugin', async () => {
  const source = join(root, 'source');
  await putFile(join(source, 'service.plugin.json'), JSON.stringify({ name: 'tools', commands: './commands' }));
  await putFile(join(source, 'commands/db/migrate.md'), 'Migrate to $ARGUMENTS now.');
  expect(await server.api('POST', '/plugins', { source })).toMatchObject({ code: 0 });
  const held = model.enqueue({ text: 'First.', hold: true });
  await typeText('begin');
  await page.keyboard.press('Enter');
  await held.sent;
  await typeText('/greet bob');
  await page.keyboard.press('Enter');
  await expect.poll(() => field().inputValue()).toBe('');
  model.enqueue({ text: 'Hello Bob.' });
  held.release();
  await log().getByText('Hello Bob.').waitFor(visible);
  expect(lastRequest()).toContain('Say hello to bob.');
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor(hidden);

  await typeText('/migr');
  await option('/tools:db/migrate').getByText('$ARGUMENTS', { exact: true }).waitFor(visible);
  await page.keyboard.press('Tab');
  expect(await field().inputValue()).toBe('/tools:db/migrate ');
  await page.keyboard.type('v2');
  model.enqueue({ text: 'Migrated.' });
  await page.keyboard.press('Enter');
  await log().getByText('Migrated.').waitFor(visible);
  expect(lastRequest()).toContain('Migrate to v2 now.');
  const card = log().locator('[data-activation]').last();
  await card.getByText('tools:db/migrate v2').waitFor(visible);
  await card.getByText('Command', { exact: true }).waitFor(visible);
  await card.getByText('of the plugin tools').waitFor(visible);
  await card.getByRole('button').click();
  await card.getByText('Migrate to v2 now.').waitFor(visible);
});

it('displays a skill that the model has loaded, its text folded', async () => {
  model.enqueue({ calls: [{ name: 'Skill', args: { skill: 'greet', args: 'bob' } }] });
  model.enqueue({ text: 'Done.' });
  await typeText('go');
  await page.keyboard.press('Enter');
  await log().getByText('Done.').waitFor(visible);
  await log().locator('button[data-work][aria-expanded="false"]').click();
  const card = log().locator('[data-tool="Skill"]');
  await card.getByText('greet bob').waitFor(visible);
  await card.getByRole('button').click();
  await card.getByText('The skill "greet" is loaded.').waitFor(visible);
  expect(await card.getByText('Say hello to bob.').count()).toBe(0);
  await card.getByText('Loaded instructions').click();
  await card.getByText('Say hello to bob.').waitFor(visible);
  // The call's card is the only one.
  expect(await log().locator('[data-activation]').count()).toBe(0);
});
