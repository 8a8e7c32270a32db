/** A conversation that is put into a summary, by hand and by itself. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

/** Waits for the n-th event of a type. */
async function watched(id: string) {
  const client = await world.watch(id);
  return {
    client,
    until: (type: string, count = 1) => {
      let seen = 0;
      return client.waitFor((frame) => frame.type === type && (seen += 1) === count);
    },
  };
}

describe('POST sessions/{id}:compact', () => {
  it('puts a summary in place of the conversation, and the next prompt goes on from it', async () => {
    const { id } = await world.session();
    const { until } = await watched(id);
    world.model.enqueue({ text: 'The file says hello.' });
    await world.prompt(id, 'What is in a.txt?');
    await until('prompt.completed');

    world.model.enqueue({ text: '## Task\nLook at a.txt.', usage: { input: 100, output: 10 } });
    expect(await world.ok('POST', `/sessions/${id}:compact`, { instruction: ' Keep names. ' })).toEqual({});
    const { payload } = await until('compaction.completed');
    expect(payload.result).toMatchObject({ summary: '## Task\nLook at a.txt.', keptUserMessageCount: 1 });

    world.model.enqueue({ text: 'Hello again.' });
    await world.prompt(id, 'Go on');
    await until('prompt.completed', 2);
    const sent = JSON.stringify(world.model.requests.at(-1)?.body);
    expect(sent).toContain('What is in a.txt?');
    expect(sent).not.toContain('The file says hello.');
    expect(sent).toContain('Look at a.txt.');
  });
});
