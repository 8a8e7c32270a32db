import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

describe('a turn', () => {
  test('streams text, runs a tool after its approval, and ends', async () => {
    const session = await world.session();
    const events = await world.watch(session.id);
    world.model.enqueue({
      thinking: 'Check.',
      text: ['Run', 'ning.'],
      calls: [{ name: 'Bash', args: { command: 'cat a.txt' } }],
    });
    world.model.enqueue({ text: 'It says hello.' });
    const prompt = await world.prompt(session.id, 'Show a.txt');
    expect(prompt.status).toBe('running');
    const requested = await events.waitFor((frame) => frame.type === 'event.approval.requested');
    const [approval] = await world.approvals(session.id);
    expect(approval?.approval_id).toBe(requested.payload.approval_id);
    await world.ok('POST', `/sessions/${session.id}/approvals/${approval?.approval_id}`, { decision: 'approved' });
    await events.waitFor((frame) => frame.type === 'prompt.completed');
    const messages = await world.messages(session.id);
    expect(messages.map((message) => message.role)).toEqual(['user', 'user', 'assistant', 'tool', 'assistant']);
    expect(messages[3]?.content).toEqual([{ type: 'tool_result', tool_call_id: 'call_1', output: 'hello\n' }]);
  });
});
