/** An editor and the real page in one session: requests of the bridge that a person answers on the page. */
import type { Page } from 'playwright-core';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';

const built = useBuiltServer();
let page: Page;
let editor: AcpProcess;

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);
beforeEach(async () => {
  editor = await startAcp(built.server);
});
afterEach(async () => {
  expect(await editor.close()).toBe(0);
});

const visible = { state: 'visible' } as const;
const card = () => page.getByRole('group', { name: /^Approval:/ });
const button = (name: string) => card().getByRole('button', { name, exact: true });
const says = (text: string) => page.getByRole('main').getByText(text).first().waitFor(visible);

/** The editor prompts; resolves when the bridge and the page both request permission for the command. */
async function request(command: string) {
  const id = await editor.open(built.base.project);
  await page.goto(`${built.server.url}/#/s/${id}`);
  built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command }, id: 'call_1' }] });
  built.base.model.enqueue({ text: 'All is done.' });
  const reply = editor.prompt(id, 'Run it');
  await until(() => editor.permissions.length === 1);
  await card().waitFor(visible);
  return { id, reply };
}

it('an approval on the page withdraws the request of the editor, and the turn continues', async () => {
  const { id, reply } = await request('touch approved && true');
  expect(editor.cancelled).toBe(0);
  await expect.poll(() => button('Approve').isEnabled()).toBe(true);
  await button('Approve').click();
  expect(await reply).toBe('end_turn');
  await until(() => editor.cancelled === 1);
  expect(editor.call('call_1').status).toBe('completed');
  expect(editor.text('agent_message_chunk', id)).toBe('All is done.');
  await access(join(built.base.project, 'approved'));
  expect(editor.permissions).toHaveLength(1);
  await says('All is done.');
});

it('a rejection on the page withdraws the request of the editor, and nothing runs', async () => {
  const { reply } = await request('touch rejected && true');
  await expect.poll(() => button('Reject …').isEnabled()).toBe(true);
  await button('Reject …').click();
  await button('Reject').click();
  expect(await reply).toBe('end_turn');
  await until(() => editor.cancelled === 1);
  expect(editor.call('call_1').status).toBe('failed');
  await expect(access(join(built.base.project, 'rejected'))).rejects.toThrow('ENOENT');
});

it('an answer in the editor removes the card of the page', async () => {
  let answer = () => {};
  editor.permit((params) => new Promise((resolve) => (answer = () => resolve(choose('allow_once')(params)))));
  const { reply } = await request('touch answered && true');
  answer();
  expect(await reply).toBe('end_turn');
  await card().waitFor({ state: 'detached' });
  expect(editor.cancelled).toBe(0);
  await access(join(built.base.project, 'answered'));
});
