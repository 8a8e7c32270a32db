/** The page's client on a real server whose replies get lost. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startWorld, type World } from '#support/world.ts';
import { ConnectionError, createPromptSender, createRest } from '@service-code/client';

let world: World;
let loses: boolean;

beforeEach(async () => {
  world = await startWorld();
  loses = false;
});
afterEach(() => world.close());

function sender(sessionId: string) {
  const rest = createRest({
    baseUrl: `${world.server.url}/`,
    token: () => world.server.token,
    fetch: async (...request) => {
      const response = await fetch(...request);
      if (!loses) return response;
      loses = false;
      await response.text();
      throw new TypeError('terminated');
    },
  });
  return createPromptSender(rest, sessionId);
}

const content = [{ type: 'text' as const, text: 'once' }];
const idle = (id: string) => expect.poll(async () => world.ok('GET', `/sessions/${id}`)).toMatchObject({ busy: false });
const prompts = async (id: string) =>
  (await world.messages(id)).filter((message) => message.role === 'user' && message.metadata?.origin.kind === 'user');

it('a prompt that is resent while it runs, runs a single time', async () => {
  const { id } = await world.session();
  const answer = world.model.enqueue({ text: 'Done.', hold: true });
  const send = sender(id);
  loses = true;
  await expect(send(content)).rejects.toBeInstanceOf(ConnectionError);
  await send(content);
  expect(await world.ok('GET', `/sessions/${id}/prompts`)).toMatchObject({ queued: [] });
  answer.release();
  await idle(id);
  expect(await prompts(id)).toHaveLength(1);
  expect(world.model.requests).toHaveLength(1);
});

it('a prompt that is resent after its turn has run a single time', async () => {
  const { id } = await world.session();
  world.model.enqueue({ text: 'Done.' });
  const send = sender(id);
  loses = true;
  await expect(send(content)).rejects.toBeInstanceOf(ConnectionError);
  await idle(id);
  await send(content);
  const [prompt, ...others] = await prompts(id);
  expect(prompt?.id).toMatch(/^msg_[0-9A-Z]{26}$/);
  expect(others).toEqual([]);
  world.model.enqueue({ text: 'Done again.' });
  await send(content);
  await idle(id);
  expect(await prompts(id)).toHaveLength(2);
});
