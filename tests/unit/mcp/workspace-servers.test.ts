import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { McpServerSet } from '#server/mcp/config/workspace-servers.ts';
import { openMcpConfig, putFile, serversOf } from '#support/mcp-config.ts';
import { eventually } from '#support/patience.ts';

async function openWorkspace() {
  const opened = await openMcpConfig();
  const servers = opened.config.workspace(opened.root);
  const sets: McpServerSet[] = [];
  servers.onChange((set) => void sets.push(set));
  const names = async () => (await servers.load()).entries.map(({ name }) => name);
  return { ...opened, servers, sets, names };
}

it('a later file replaces a server of the same name at its index', async () => {
  const { home, root, user, shared, local, servers } = await openWorkspace();
  await putFile(user, { mcpServers: { a: { command: 'a' }, b: { command: 'b' }, c: { command: 'c', cwd: 'sub' } } });
  await putFile(shared, { mcpServers: { b: { command: 'b2' }, d: { command: 'd', cwd: 'sub' } } });
  await putFile(local, { mcpServers: { a: { url: 'https://a.example' }, e: { command: 'e', cwd: 'sub' } } });
  const top = dirname(root);
  expect(await servers.load()).toEqual({
    problems: [],
    ignored: [],
    entries: [
      {
        name: 'a',
        config: { transport: 'http', url: 'https://a.example' },
        source: 'global',
        origin: local,
        mutable: false,
      },
      {
        name: 'b',
        config: { transport: 'stdio', command: 'b2', cwd: top },
        source: 'global',
        origin: shared,
        mutable: false,
      },
      {
        name: 'c',
        config: { transport: 'stdio', command: 'c', cwd: 'sub' },
        source: 'global',
        origin: join(home, 'mcp.json'),
        mutable: true,
      },
      {
        name: 'd',
        config: { transport: 'stdio', command: 'd', cwd: join(top, 'sub') },
        source: 'global',
        origin: shared,
        mutable: false,
      },
      {
        name: 'e',
        config: { transport: 'stdio', command: 'e', cwd: 'sub' },
        source: 'global',
        origin: local,
        mutable: false,
      },
    ],
  });
});

it("a project's servers are used while its directory and the top of the repository are trusted", async () => {
  const { root, top, facts, user, shared, local, servers, sets, names } = await openWorkspace();
  facts.trusted = new Set();
  await putFile(user, serversOf('a'));
  await putFile(shared, serversOf('b'));
  await putFile(local, '{ no JSON');
  expect(await servers.load()).toMatchObject({
    entries: [{ name: 'a' }],
    problems: [],
    ignored: [
      { path: shared, directory: root, reason: 'untrusted' },
      { path: local, directory: root, reason: 'untrusted' },
    ],
  });
  facts.trusted.add(root);
  await servers.reload();
  // The file at the top of the repository starts programs of another directory.
  expect(await servers.load()).toMatchObject({
    entries: [{ name: 'a' }],
    problems: [{ file: local }],
    ignored: [{ path: shared, directory: top, reason: 'untrusted' }],
  });
  facts.trusted.add(top);
  await servers.reload();
  expect(await names()).toEqual(['a', 'b']);
  facts.trusted.delete(root);
  await servers.reload();
  expect(await names()).toEqual(['a']);
  expect(sets.map(({ entries }) => entries.length)).toEqual([1, 1, 2, 1]);
});

it('an unreadable trust is treated as none', async () => {
  const { facts, user, shared, local, servers, names, lines } = await openWorkspace();
  facts.trustFails = true;
  await putFile(user, serversOf('a'));
  await putFile(shared, serversOf('b'));
  await putFile(local, serversOf('c'));
  expect(await names()).toEqual(['a']);
  expect(lines.join()).toContain('cannot be read');
  facts.trustFails = false;
  await servers.reload();
  expect(await names()).toEqual(['a', 'b', 'c']);
});

it('notices trust that another server of the home records', async () => {
  const { home, root, top, facts, shared, sets, names } = await openWorkspace();
  facts.trusted.clear();
  await putFile(shared, serversOf('b'));
  expect(await names()).toEqual([]);
  facts.trusted = new Set([root, top]);
  await putFile(join(home, 'trust', 'marker.json'), {});
  await eventually(() => expect(sets.at(-1)?.entries).toMatchObject([{ name: 'b' }]));
});

it('a reload resolves when the listeners have applied the change', async () => {
  const { user, servers } = await openWorkspace();
  await servers.load();
  const order: string[] = [];
  servers.onChange(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push('taken over');
  });
  await putFile(user, serversOf('a'));
  await servers.reload();
  order.push('reloaded');
  expect(order).toEqual(['taken over', 'reloaded']);
});

it('a listener that fails stops neither the others nor the next change', async () => {
  const { user, lines, servers, sets } = await openWorkspace();
  servers.onChange(() => {
    throw new Error('no');
  });
  await putFile(user, serversOf('a'));
  await servers.load();
  await putFile(user, serversOf('b'));
  await servers.reload();
  expect(sets.map(({ entries }) => entries[0]?.name)).toEqual(['a', 'b']);
  expect(lines.join()).toContain('could not be taken over');
});

const bad: [string, unknown, RegExp][] = [
  [
    'a text nested too deeply',
    `${'['.repeat(300)}${']'.repeat(300)}`,
    /^Invalid JSON in .*mcp\.json: the text is nested too deeply$/,
  ],
  ['text that is no JSON', '{"mcpServers": {"x": {"command": "secret"}', /^Invalid JSON in .*mcp\.json: /],
  ['a list', [], /the document is no object/],
  ['mcpServers that is no object', { mcpServers: [] }, /mcpServers is no object/],
  ['an entry without command and url', { mcpServers: { x: { args: ['secret'] } } }, /mcpServers\.x: transport: /],
  ['an entry that is no object', { mcpServers: { x: 'secret' } }, /mcpServers\.x: /],
  ['a URL that is none', { mcpServers: { x: { url: 'secret' } } }, /mcpServers\.x: url: Invalid URL/],
  ['a time-out of 0', { mcpServers: { x: { command: 'secret', toolTimeoutMs: 0 } } }, /mcpServers\.x: toolTimeoutMs/],
  ['too much', `{"mcpServers": {}, "x": "${'secret'.repeat(200_000)}"}`, /larger than/],
];
it.each(bad)('%s: the servers of that file stay, the other files are read', async (_name, content, message) => {
  const { user, shared, lines, servers, names } = await openWorkspace();
  await putFile(user, serversOf('a'));
  await putFile(shared, serversOf('b'));
  await servers.load();
  await putFile(user, content);
  await putFile(shared, serversOf('c'));
  await servers.reload();
  expect(await names()).toEqual(['a', 'c']);
  const { problems } = await servers.load();
  expect(problems).toEqual([{ file: user, message: expect.stringMatching(message) }]);
  expect(problems[0]?.message).toContain(user);
  expect(`${JSON.stringify(problems)}${lines.join()}`).not.toContain('secret');
  expect(lines).toHaveLength(1);
});

it('a file that was never readable has no servers', async () => {
  const { user, shared, names } = await openWorkspace();
  await putFile(user, '{');
  await putFile(shared, serversOf('b'));
  expect(await names()).toEqual(['b']);
});

it('an empty file and a file without mcpServers have no servers', async () => {
  const { user, shared, servers } = await openWorkspace();
  await putFile(user, ' \n');
  await putFile(shared, { other: true });
  expect(await servers.load()).toEqual({ entries: [], problems: [], ignored: [] });
});

it('a directory, and a link to a device, are refused as files', async () => {
  const { user, shared, servers } = await openWorkspace();
  await mkdir(user);
  await symlink('/dev/zero', shared);
  const { problems } = await servers.load();
  expect(problems.map(({ file }) => file).toSorted()).toEqual([shared, user].toSorted());
});

it('reports a manual change of each file, also where there was no directory for it', async () => {
  const { user, shared, local, sets, names } = await openWorkspace();
  expect(await names()).toEqual([]);
  const until = (expected: string[]) =>
    eventually(async () => expect(sets.at(-1)?.entries.map(({ name }) => name)).toEqual(expected));
  await putFile(user, serversOf('a'));
  await until(['a']);
  await putFile(local, serversOf('l'));
  await until(['a', 'l']);
  // Editors replace files this way.
  await writeFile(`${local}.new`, JSON.stringify(serversOf('m')));
  await rename(`${local}.new`, local);
  await putFile(shared, serversOf('s'));
  await until(['a', 's', 'm']);
  await rm(dirname(local), { recursive: true });
  await until(['a', 's']);
  await putFile(local, serversOf('n'));
  await until(['a', 's', 'n']);
});

it("reports a change of a link's target, and of the link", async () => {
  const { home, user, sets, names } = await openWorkspace();
  const until = (expected: string[]) =>
    eventually(async () => expect(sets.at(-1)?.entries.map(({ name }) => name)).toEqual(expected));
  await putFile(join(dirname(home), 'elsewhere', 'servers.json'), serversOf('a'));
  await symlink(join('..', 'elsewhere', 'servers.json'), user);
  expect(await names()).toEqual(['a']);
  await putFile(join(dirname(home), 'elsewhere', 'servers.json'), serversOf('b'));
  await until(['b']);
});

it('many changes in a row are reported as one', async () => {
  const { user, sets, servers } = await openWorkspace();
  await servers.load();
  for (let at = 0; at < 20; at++) await putFile(user, serversOf(`s${at}`));
  await eventually(() => expect(sets.at(-1)?.entries[0]?.name).toBe('s19'));
  expect(sets).toHaveLength(1);
});

it('reports no change after the close', async () => {
  const { user, servers, sets } = await openWorkspace();
  await servers.load();
  servers.close();
  await putFile(user, serversOf('a'));
  await servers.reload();
  expect(sets).toEqual([]);
});

it('a reload of all workspaces skips those that were never loaded', async () => {
  const { config, user, servers, sets } = await openWorkspace();
  await putFile(user, serversOf('a'));
  await config.reload();
  expect(sets).toEqual([]);
  await servers.load();
  await putFile(user, serversOf('b'));
  await config.reload();
  expect(sets).toHaveLength(2);
});
