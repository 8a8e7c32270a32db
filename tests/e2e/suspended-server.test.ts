/** A built server suspended longer than its lease lasts; another machine's server takes over its session. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { mountsForbidden } from '#support/namespace.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { DEAD_MS } from '#server/home/heartbeats.ts';

/** Makes a server appear to run on another machine, where only heartbeats show whether the first server is alive. */
const ANOTHER_BOOT = 'echo another >"$1/boot_id"; mount --bind "$1/boot_id" /proc/sys/kernel/random/boot_id';

const forbidden = mountsForbidden();
if (forbidden !== undefined) process.stderr.write(`skipped: ${forbidden}\n`);

let base: BuiltHome;
let first: SpawnedServer;
let second: SpawnedServer;
beforeEach(async () => {
  base = await makeBuiltHome();
  first = await spawnServer({ home: base.home });
  second = await spawnServer({ home: base.home, mounts: ANOTHER_BOOT });
});
afterEach(async () => {
  first.process.kill('SIGCONT');
  await first.close();
  await second.close();
  await base.remove();
});

/** The bytes of a session's journal. */
async function journalOf(id: string): Promise<Buffer> {
  const names = await readdir(join(base.home, 'sessions'), { recursive: true });
  const name = names.find((each) => each.endsWith(`${id}/journal.ndjson`));
  return readFile(join(base.home, 'sessions', name ?? ''));
}

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });

test.skipIf(forbidden !== undefined)(
  'writes nothing when it resumes, and reports which server owns the session',
  { timeout: 4 * DEAD_MS },
  async () => {
    const created = await first.api('POST', '/sessions', { metadata: { cwd: base.project } });
    const { id } = z.object({ id: z.string() }).parse(created.data);
    const path = `/sessions/${id}`;
    base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch made' } }] });
    await first.api('POST', `${path}/prompts`, text('First'));
    const pending = async () => (await first.api('GET', `${path}/approvals?status=pending`)).data;
    await expect.poll(pending).toMatchObject({ items: [{ tool_name: 'Bash' }] });
    const { items } = z.object({ items: z.array(z.object({ approval_id: z.string() })) }).parse(await pending());

    first.process.kill('SIGSTOP');
    base.model.enqueue({ text: 'Taken over.' });
    const prompt = async () => (await second.api('POST', `${path}/prompts`, text('Second'))).code;
    expect(await prompt()).toBe(40901);
    await expect.poll(prompt, { timeout: 2 * DEAD_MS, interval: 500 }).toBe(0);
    const state = async () => (await second.api('GET', path)).data;
    await expect.poll(state).toMatchObject({ busy: false, last_turn_reason: 'completed' });
    const taken = await journalOf(id);

    first.process.kill('SIGCONT');
    const refused = [
      await first.api('POST', `${path}/approvals/${items[0]?.approval_id}`, { decision: 'approved' }),
      await first.api('POST', `${path}/prompts`, text('Third')),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject({ code: 40901, msg: expect.stringContaining('on another machine') });
    }
    const { data } = await first.api('GET', `${path}/messages`);
    expect(JSON.stringify(data)).toContain('Taken over.');
    expect(existsSync(join(base.project, 'made'))).toBe(false);
    expect((await journalOf(id)).equals(taken)).toBe(true);

    base.model.enqueue({ text: 'Gone on.' });
    expect(await prompt()).toBe(0);
    await expect
      .poll(async () => JSON.stringify((await second.api('GET', `${path}/messages`)).data))
      .toContain('Gone on.');
  },
);
