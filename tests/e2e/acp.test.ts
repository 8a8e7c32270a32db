/** An editor and the built server: every method of the protocol, and every bad parameter. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';

const server = useBuiltServer(undefined, { per: 'file' });
let editor: AcpProcess;

beforeAll(async () => {
  editor = await startAcp(server.server);
});
afterAll(async () => {
  await editor.close();
});

describe('acp', () => {
  it('answers a prompt with its text, and ends it', async () => {
    const id = await editor.open(server.base.project);
    server.base.model.enqueue({ thinking: 'Hm.', text: ['Hello ', 'there.'] });
    expect(await editor.prompt(id, 'Hi')).toBe('end_turn');
    expect(editor.text('agent_message_chunk', id)).toBe('Hello there.');
    expect(editor.text('agent_thought_chunk', id)).toBe('Hm.');
    expect(editor.text('user_message_chunk', id)).toBe('');
  });

  it('requests permission, and reports the output of the command', async () => {
    const id = await editor.open(server.base.project);
    editor.permit(choose('allow_once'));
    server.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'echo one; echo two' }, id: 'call_out' }] });
    server.base.model.enqueue({ text: 'Done.' });
    expect(await editor.prompt(id, 'Run it')).toBe('end_turn');
    await until(() => editor.call('call_out').status === 'completed');
    expect(editor.call('call_out')).toMatchObject({ kind: 'execute', title: 'echo one; echo two' });
    expect(JSON.stringify(editor.call('call_out').content)).toContain('one\\ntwo');
  });
});
