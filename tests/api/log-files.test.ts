/** Log files of a real server: what they contain, and what they must not contain. */
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeEach(async () => (world = await startWorld()));
afterEach(() => world.close());

const lineSchema = z.looseObject({ level: z.number(), msg: z.string(), sessionId: z.string().optional() });

/** Current lines of a log; empty if there is none. */
async function logged(folder: string) {
  const text = await readFile(join(folder, 'logs', 'service-code.log'), 'utf8').catch(() => '');
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [lineSchema.parse(JSON.parse(line))]));
}

describe('log files', () => {
  it('report a damaged session: in the log of the home and in its own', async () => {
    const { home } = world.server;
    const session = await world.session();
    const other = await world.session();
    const folder = (id: string) => join(home, 'sessions', session.workspace_id, id);
    await world.ok('POST', `/sessions/${session.id}:archive`);
    await appendFile(join(folder(session.id), 'journal.ndjson'), 'no record\n{}\n');
    expect(await world.api('POST', `/sessions/${session.id}:abort`)).toMatchObject({ code: 50001 });
    const line = { level: 50, msg: 'a session cannot be loaded', sessionId: session.id };
    await expect.poll(() => logged(home)).toContainEqual(expect.objectContaining(line));
    await expect.poll(() => logged(folder(session.id))).toEqual([expect.objectContaining(line)]);
    await expect(stat(join(folder(other.id), 'logs'))).rejects.toThrow('ENOENT');
  });

  it('report a broken configuration without its values; they have no access lines', async () => {
    const { home, token } = world.server;
    const config = join(home, 'config.toml');
    const whole = await readFile(config, 'utf8');
    await writeFile(config, `${whole}\n[providers.more]\napi_key = "sk-secret-value\n`);
    await expect
      .poll(() => logged(home))
      .toContainEqual(
        expect.objectContaining({ level: 50, msg: expect.stringMatching(/cannot be read.*line \d+, column \d+$/) }),
      );
    await world.ok('GET', '/meta');
    expect(await world.api('POST', '/config', { telemetry: false })).toMatchObject({ code: 40001 });
    const provider = {
      id: 'p',
      type: 'openai',
      base_url: 'http://127.0.0.1:9',
      api_key: 'sk-other-secret',
      models: [{ model: 'm', max_context_size: 1000 }],
    };
    expect(await world.api('POST', '/providers', provider)).toMatchObject({ code: 50003 });
    // Lines are written in order, so no earlier line is still pending.
    await writeFile(config, whole);
    await expect
      .poll(() => logged(home))
      .toContainEqual(expect.objectContaining({ msg: 'the configuration can be read again' }));
    const text = await readFile(join(home, 'logs', 'service-code.log'), 'utf8');
    for (const never of ['sk-secret-value', 'sk-other-secret', token, 'request completed']) {
      expect(text).not.toContain(never);
    }
  });
});
