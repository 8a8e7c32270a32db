import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { createPluginsWriter } from '#server/plugins/plugins-writer.ts';
import { readRegistry, registryFile } from '#server/plugins/registry.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();
const row = { id: 'a', root: '/r', source: 'local-path', enabled: true, installedAt: 'x' };

async function write(content: string | Buffer): Promise<void> {
  await mkdir(dirname(registryFile(folder.path)), { recursive: true });
  await writeFile(registryFile(folder.path), content);
}

it('is empty without a file', async () => {
  expect(await readRegistry(folder.path)).toEqual({ version: 1, plugins: [] });
});

it('preserves members that it does not know', async () => {
  const registry = {
    version: 1,
    more: true,
    plugins: [{ ...row, extra: 1, capabilities: { mcpServers: { s: { enabled: false, x: 2 } }, y: 3 } }],
  };
  await write(JSON.stringify(registry));
  const read = await readRegistry(folder.path);
  expect(read).toEqual(registry);
  await createPluginsWriter(folder.path).writeRegistry(read);
  expect(await readRegistry(folder.path)).toEqual(registry);
});

it.each([
  ['empty', '', /: syntax error|not valid JSON/],
  ['no JSON', '{"version":1', /: /],
  ['of version 2', '{"version":2}', /: version 2 is newer than this server supports$/],
  ['of version 1.5', '{"version":1.5}', /: version 1.5 is newer/],
  ['of version 0', '{"version":0,"plugins":[]}', /: version: /],
  ['without a version', '{"plugins":[]}', /: version: /],
  ['a list', '[]', /: Invalid input/],
  ['without plugins', '{"version":1}', /: plugins: /],
  ['with an invalid id', JSON.stringify({ version: 1, plugins: [{ ...row, id: '../x' }] }), /plugins\.0\.id/],
  ['with a relative root', JSON.stringify({ version: 1, plugins: [{ ...row, root: 'x' }] }), /plugins\.0\.root/],
  ['with an unknown source', JSON.stringify({ version: 1, plugins: [{ ...row, source: 'x' }] }), /plugins\.0\.source/],
  ['with an id twice', JSON.stringify({ version: 1, plugins: [row, row] }), /plugins: an id occurs twice/],
  ['nested too deeply', `{"version":1,"plugins":${'['.repeat(300)}${']'.repeat(300)}}`, /nested too deeply/],
  ['larger than 4 MiB', Buffer.alloc(4 * 1024 * 1024 + 1, ' '), /larger than 4194304 bytes/],
])('refuses a file that is %s, and names it', async (_what, content, reason) => {
  await write(content);
  const failure = await readRegistry(folder.path).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'UnreadableRegistry', message: expect.stringMatching(reason) });
  expect(String(failure)).toContain(registryFile(folder.path));
});

it('refuses a directory and a pipe, without waiting', async () => {
  await mkdir(registryFile(folder.path), { recursive: true });
  await expect(readRegistry(folder.path)).rejects.toMatchObject({ name: 'UnreadableRegistry' });
  await rm(registryFile(folder.path), { recursive: true });
  execFileSync('mkfifo', [registryFile(folder.path)]);
  await expect(readRegistry(folder.path)).rejects.toMatchObject({ name: 'UnreadableRegistry' });
});
