/** Several servers of one home and an editor change `config.toml` concurrently: no change is lost. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseToml } from '#server/config/document.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

let home: string;
let servers: TestServer[];
beforeEach(async () => {
  home = await temporaryDirectory();
  servers = await Promise.all([1, 2].map(() => startServer({ home, env: () => ({}) })));
});
afterEach(async () => {
  for (const server of servers) await server.close();
  await rm(home, { recursive: true, force: true });
});

const path = () => join(home, 'config.toml');
const names = (count: number) => Array.from({ length: count }, (_, at) => `p${String(at).padStart(3, '0')}`);
const providers = async () => Object.keys(Object(parseToml(await readFile(path(), 'utf8')).providers));

it('two servers lose none of 200 concurrent changes, over either route', async () => {
  const answers = await Promise.all(
    names(200).map(async (id, at) => {
      const server = servers[at % 2];
      return at % 3 === 0
        ? server?.api('POST', '/providers', {
            id,
            type: 'openai',
            base_url: 'http://127.0.0.1:1',
            models: [{ model: 'm', max_context_size: 1000 }],
          })
        : server?.api('POST', '/config', { providers: { [id]: { type: 'openai' } } });
    }),
  );
  expect(answers.filter((answer) => answer?.code !== 0)).toEqual([]);
  expect((await providers()).toSorted()).toEqual(names(200));
});

it('a manual edit between changes survives, with its comments', async () => {
  const [first, second] = servers;
  await writeFile(path(), '# mine\ntelemetry = true # now\n');
  for (const [at, id] of names(20).entries()) {
    const server = at % 2 === 0 ? first : second;
    expect(await server?.api('POST', '/config', { providers: { [id]: { type: 'openai' } } })).toMatchObject({
      code: 0,
    });
    // Same length as before, within the resolution of file times.
    const text = await readFile(path(), 'utf8');
    await writeFile(path(), text.replace(/# mine.{0,3}|# at \d\d/, `# at ${String(at).padStart(2, '0')}`));
  }
  await second?.api('POST', '/config', { default_model: 'm' });
  const text = await readFile(path(), 'utf8');
  expect(text).toMatch(/^# at 19\n/);
  expect(text).toContain('telemetry = true # now');
  expect(await providers()).toEqual(names(20));
});
