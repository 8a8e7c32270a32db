/** Many concurrent sessions, each with a subagent: no data of one appears in another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { RecordedRequest, Script } from '#support/model-server.ts';
import { startTalk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const SESSIONS = 50;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  world.model.answerBy(answer);
});
afterAll(() => world.close());

const marker = (n: number) => `<mark-${n}>`;
const messages = z.array(z.looseObject({ role: z.string() }));

/** The main agent passes its word to a subagent, which repeats it; then both complete. */
function answer({ body }: RecordedRequest): Script {
  // Reminders follow the prompt.
  const said = messages.parse(body['messages']).map((message) => JSON.stringify(message));
  const told = said.findLast((text) => /<mark-\d+>/.test(text)) ?? '';
  const [mark = 'none'] = /<mark-\d+>/.exec(told) ?? [];
  if (told.includes('Begin')) {
    return { calls: [{ name: 'Agent', args: { prompt: `Say ${mark}`, description: mark } }], paceMs: 1 };
  }
  return { text: [`Here is ${mark} `, ...Array.from({ length: 10 }, () => `and ${mark} again and again `)], paceMs: 1 };
}

test(`${SESSIONS} concurrent sessions with subagents: every frame belongs to its own session and agent`, async () => {
  const talks = await Promise.all(Array.from({ length: SESSIONS }, () => startTalk(world)));
  await Promise.all(
    talks.map(async (talk, n) => {
      await world.ok('POST', `${talk.path}/prompts`, {
        content: [{ type: 'text', text: `Begin ${marker(n)}` }],
        prompt_id: `prompt_${n}`,
      });
      const ended = () => talk.all('prompt.completed').filter(({ payload }) => payload.promptId === `prompt_${n}`);
      await expect.poll(ended).toMatchObject([{ payload: { reason: 'completed' } }]);
    }),
  );

  const ids = talks.map(({ session }) => session.id);
  for (const [n, talk] of talks.entries()) {
    const own = talk.events.frames.filter(({ session_id }) => session_id === ids[n]);
    const texts = own.map((frame) => JSON.stringify(frame));
    expect(new Set(texts.flatMap((text) => text.match(/<mark-\d+>/g) ?? []))).toEqual(new Set([marker(n)]));
    expect(texts.filter((text) => ids.some((id) => id !== ids[n] && text.includes(id)))).toEqual([]);
    const agents = new Set(
      own.flatMap(({ payload }) => (typeof payload.agentId === 'string' ? [payload.agentId] : [])),
    );
    expect(agents).toEqual(new Set(['main', 'agent-1']));
    const said = own.filter(({ type, payload }) => type === 'assistant.delta' && payload.agentId === 'agent-1');
    expect(said.length).toBeGreaterThan(0);
    const seqs = talk.events.durable(talk.session.id).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, place) => (seqs[0] ?? 0) + place));
  }
});
