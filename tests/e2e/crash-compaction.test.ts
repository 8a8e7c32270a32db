/** The built server killed while a conversation is compacted: the summary is complete, or the history is unchanged. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { messageSchema } from '#schema/rest/message.ts';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { useBuiltServer } from '#support/built-server.ts';

const KILLS = 8;
/** Tokens, relative to the model's configured window. */
const FULL = 250_000;

const built = useBuiltServer();
const { ok } = built;

async function history(id: string) {
  const page = z.object({ items: z.array(messageSchema) });
  const { items } = page.parse(await ok('GET', `/sessions/${id}/messages?page_size=100`));
  return items.toReversed();
}

async function markers(id: string): Promise<unknown[]> {
  const page = transcriptPageSchema.parse(await ok('GET', `/sessions/${id}/transcript?page_size=100&agent_id=main`));
  return page.items.flatMap((item) => (item.kind === 'marker' && item.marker === 'compaction' ? [item.payload] : []));
}

const phases = async (id: string) =>
  (await markers(id)).map((marker) => z.object({ phase: z.string() }).parse(marker).phase);
const idle = (id: string) =>
  expect.poll(async () => await ok('GET', `/sessions/${id}`), { interval: 5 }).toMatchObject({ busy: false });

const submit = (id: string, text: string) =>
  built.server.api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text }] }).catch(() => undefined);

test(`${KILLS} kills during compactions`, async () => {
  const id = await built.newSession();
  // Long enough to be stored as a blob.
  const summary = ['## Task\n', 'word '.repeat(4000), 'end'];
  let filled = false;
  built.base.model.answerBy(({ body }) => {
    if (JSON.stringify(body).includes('Write a summary of the conversation so far.'))
      return { text: summary, paceMs: 5 };
    return { text: 'Answer.', usage: { input: filled ? FULL : 100, output: 10 } };
  });
  for (let round = 0; round < KILLS; round += 1) {
    const byItself = round % 2 === 0;
    filled = byItself;
    await submit(id, `Prompt ${round}`);
    await idle(id);
    filled = false;
    const before = await history(id);
    const ends = (await phases(id)).filter((phase) => phase === 'completed').length;
    const request = byItself
      ? submit(id, `Next ${round}`)
      : built.server.api('POST', `/sessions/${id}:compact`).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    await built.restart('SIGKILL');
    await request;
    await idle(id);

    const now = await history(id);
    expect(now.slice(0, before.length)).toEqual(before);
    const told = await phases(id);
    const count = (phase: string) => told.filter((one) => one === phase).length;
    expect(count('completed') + count('cancelled')).toBe(count('started'));
    expect(count('completed') - ends).toBeLessThanOrEqual(1);
    const summaries = now.filter(({ metadata }) => metadata?.origin.kind === 'compaction_summary');
    expect(summaries).toHaveLength(count('completed'));
    for (const { content } of summaries) expect(JSON.stringify(content)).toContain(summary[1]);
  }
  await submit(id, 'Prompt at last');
  await idle(id);
  expect(await ok('GET', `/sessions/${id}`)).toMatchObject({ last_turn_reason: 'completed' });
});
