/** A session that an earlier version wrote and left in mid-turn is read, settled and continued. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { useBuiltServer } from '#support/built-server.ts';

const ID = 'session_71bccb8f-dada-4675-8a51-d86a04ef3b4e';
const LONG_TEXT = 'x'.repeat(20_000);

const built = useBuiltServer();
const { ok } = built;

/** Copies the session into the home and restarts the server. */
async function placeSession(): Promise<void> {
  const { home, project } = built.base;
  const { id: workspace } = z.object({ id: z.string() }).parse(await ok('POST', '/workspaces', { root: project }));
  await built.restart('SIGTERM', async () => {
    const dir = join(home, 'sessions', workspace, ID);
    await mkdir(join(dir, 'blobs'), { recursive: true });
    const text = await readFile(join(import.meta.dirname, '../fixtures/earlier-journal.ndjson'), 'utf8');
    const here = { project, home, workspace };
    const journal = text.replaceAll(/@(project|home|workspace)@/g, (_, name: keyof typeof here) => here[name]);
    await writeFile(join(dir, 'journal.ndjson'), journal);
    await writeFile(join(dir, 'blobs', createHash('sha256').update(LONG_TEXT).digest('hex')), LONG_TEXT);
    await rm(join(home, 'cache'), { recursive: true, force: true });
  });
}

test('is listed and read, its open work is settled, and new turns continue it', async () => {
  await placeSession();
  const session = async () => ok('GET', `/sessions/${ID}`);
  await expect.poll(session).toMatchObject({ busy: false, last_turn_reason: 'cancelled', title: 'Say hello.' });

  const texts = JSON.stringify(await ok('GET', `/sessions/${ID}/messages?page_size=100`));
  for (const text of ['Hello, there.', 'Keep it.', 'One it is.', 'A long story, ', LONG_TEXT]) {
    expect(texts).toContain(text);
  }
  const page = async () => {
    const data = await ok('GET', `/sessions/${ID}/transcript?agent_id=main&page_size=100`);
    return transcriptPageSchema.parse(data);
  };
  const { items, todos, pending_interactions } = await page();
  const turns = items.flatMap((item) => (item.kind === 'turn' ? [item] : []));
  expect(turns.map(({ state }) => state)).toEqual([
    'completed',
    'completed',
    'completed',
    'cancelled',
    'completed',
    'cancelled',
  ]);
  expect(pending_interactions).toEqual([]);
  expect(todos[0]?.items).toHaveLength(2);
  expect(await ok('GET', `/sessions/${ID}/prompts`)).toEqual({ active: null, queued: [] });
  expect(await ok('GET', `/sessions/${ID}/tasks`)).toEqual({ items: [] });
  expect(await ok('GET', `/sessions/${ID}/goal`)).toBeNull();

  built.base.model.enqueue({ calls: [{ name: 'EnterPlanMode', args: {} }] });
  built.base.model.enqueue({ text: 'Planning now.' });
  await built.prompt(ID, 'Plan it.');
  await expect.poll(session).toMatchObject({ busy: false, last_turn_reason: 'completed' });
  expect(await ok('GET', `/sessions/${ID}/status`)).toMatchObject({ plan_mode: true });
  expect((await page()).items.slice(0, items.length)).toEqual(items);
});
