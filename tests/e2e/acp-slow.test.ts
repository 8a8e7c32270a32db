/** An editor that does not read while a command floods its output. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';

const PAUSE_MS = 30_000;
const MAX_MEMORY = 100 * 1024 * 1024;

const base = useBuiltServer(undefined, { per: 'file' });
let editor: AcpProcess;
afterAll(() => editor.close());

const residentBytes = async (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

it('keeps little in memory, and sends the rest afterwards', async () => {
  editor = await startAcp(base.server);
  const id = await editor.open(base.base.project);
  editor.permit(choose('allow_once'));
  // Below the 16 MiB after which the server ends a command.
  const command = `for i in $(seq 1 250); do head -c 40000 /dev/zero | tr '\\0' x; echo; sleep 0.1; done; echo the last line`;
  base.base.model.enqueue({ calls: [{ name: 'Bash', args: { command }, id: 'call_flood' }] });
  base.base.model.enqueue({ text: Array.from({ length: 2000 }, (_, n) => `${n} `) });
  const reply = editor.prompt(id, 'Flood');
  await until(() => editor.call('call_flood').status === 'in_progress');

  const resume = editor.stopReading();
  await delay(1_000);
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
  resume();
  expect(await reply).toBe('end_turn');
  expect(editor.call('call_flood').status).toBe('completed');
  expect(JSON.stringify(editor.call('call_flood').content).includes('Output was cut')).toBe(true);
  expect(editor.text('agent_message_chunk', id)).toMatch(/ 1998 1999 $/);
});
