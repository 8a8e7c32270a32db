/** An editor that does not read while a command floods its output. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { useBuiltServer } from '#support/built-server.ts';

const PAUSE_MS = 30_000;
const MAX_MEMORY = 100 * 1024 * 1024;

const base = useBuiltServer(undefined, { per: 'file' });
let editor: AcpProcess;
afterAll(() => editor.close());

const residentBytes = async (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

it('keeps little in memory, and sends the end of the output afterwards', async () => {
  editor = await startAcp(base.server);
  const id = await editor.open(base.base.project);
  editor.permit(choose('allow_once'));
  const command = `timeout ${PAUSE_MS / 1000 - 2} yes "a line of the flood"; echo the last line`;
  base.base.model.enqueue({ calls: [{ name: 'Bash', args: { command, timeout: 60_000 }, id: 'call_flood' }] });
  base.base.model.enqueue({ text: Array.from({ length: 2000 }, (_, n) => `${n} `) });
  const reply = editor.prompt(id, 'Flood');
  while (editor.call('call_flood').status !== 'in_progress') await delay(10);

  editor.process.stdout?.pause();
  editor.process.stdout?.removeAllListeners('readable');
  const before = editor.output().length;
  const end = Date.now() + PAUSE_MS;
  let most = 0;
  while (Date.now() < end) {
    await delay(500);
    most = Math.max(most, await residentBytes(editor.process.pid));
    const started = Date.now();
    await base.ok('GET', `/sessions/${id}/status`);
    expect(Date.now() - started).toBeLessThan(5_000);
  }
  process.stderr.write(`the bridge had at most ${(most / 1024 / 1024).toFixed(0)} MB\n`);
  expect(most).toBeLessThan(MAX_MEMORY);
  expect(editor.output().length).toBe(before);
  editor.process.stdout?.resume();
  expect(await reply).toBe('end_turn');
  expect(JSON.stringify(editor.call('call_flood').content)).toContain('the last line');
  expect(editor.text('agent_message_chunk', id)).toContain('1998 1999');
});
