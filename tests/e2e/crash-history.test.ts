/** The built server killed while it undoes turns or copies a session: each operation is atomic. */
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { messageSchema } from '#schema/rest/message.ts';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { useBuiltServer } from '#support/built-server.ts';

const KILLS = 16;
/** Number of turns before each kill. */
const TURNS = 3;

const built = useBuiltServer();
const { ok } = built;

const sessionId = z.object({ id: z.string(), workspace_id: z.string(), busy: z.boolean() });
const sessions = async () => z.object({ items: z.array(sessionId) }).parse(await ok('GET', '/sessions')).items;

async function said(id: string): Promise<string[]> {
  const page = z.object({ items: z.array(messageSchema) });
  const { items } = page.parse(await ok('GET', `/sessions/${id}/messages?page_size=100`));
  return items
    .toReversed()
    .flatMap(({ content }) => content.map((part) => (part.type === 'text' ? part.text : part.type)));
}

async function turnsOf(id: string): Promise<string[]> {
  const { items } = transcriptPageSchema.parse(
    await ok('GET', `/sessions/${id}/transcript?page_size=100&agent_id=main`),
  );
  return items.flatMap((item) => (item.kind === 'turn' ? [item.prompt ?? ''] : []));
}

async function turn(id: string, text: string): Promise<void> {
  built.base.model.enqueue({ text: `${text} ${'answer '.repeat(4000)}` });
  await built.prompt(id, text);
  const busy = async () => (await sessions()).find((one) => one.id === id)?.busy;
  await expect.poll(busy, { interval: 5 }).toBe(false);
}

const prompts = (texts: string[]) => texts.filter((text) => text.startsWith('Prompt') && !text.includes('answer'));

test(`${KILLS} kills during undo and fork`, async () => {
  const { id, workspace_id } = sessionId.parse(
    await ok('POST', '/sessions', { metadata: { cwd: built.base.project } }),
  );
  const folder = join(built.base.home, 'sessions', workspace_id);
  const known = new Set([id]);
  let made = 0;
  for (let round = 0; round < KILLS; round += 1) {
    while (prompts(await said(id)).length < TURNS) await turn(id, `Prompt ${(made += 1)}`);
    const before = await said(id);
    const undo = round % 2 === 0;
    const request = built.server.api('POST', `/sessions/${id}:${undo ? 'undo' : 'fork'}`).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 25));
    await built.restart('SIGKILL');
    const answer = await request;

    const now = await said(id);
    const shorter = before.slice(
      0,
      before.findLastIndex((text) => prompts([text]).length > 0),
    );
    expect(undo ? [before, shorter] : [before]).toContainEqual(now);
    if (undo && answer?.code === 0) expect(now).toEqual(shorter);
    expect(await turnsOf(id)).toEqual(prompts(now));

    const copies = (await sessions()).filter((one) => !known.has(one.id));
    if (!undo && answer?.code === 0) expect(copies).toHaveLength(1);
    for (const copy of copies) {
      known.add(copy.id);
      expect(await said(copy.id)).toEqual(before);
      expect(await turnsOf(copy.id)).toEqual(prompts(before));
    }
    const visible = (await readdir(folder)).filter((name) => !name.startsWith('.unfinished-'));
    expect(visible.toSorted()).toEqual([...known].toSorted());
  }

  // Leftovers of copies are removed when no process can be writing them any more.
  const left = (await readdir(folder)).filter((name) => name.startsWith('.unfinished-'));
  const long = new Date(Date.now() - 2 * 60 * 60 * 1000);
  for (const name of left) await utimes(join(folder, name), long, long);
  await built.restart('SIGTERM');
  await sessions();
  await expect.poll(() => readdir(folder)).not.toContainEqual(expect.stringContaining('unfinished'));
  for (const one of known) await turn(one, 'Prompt at last');
});
