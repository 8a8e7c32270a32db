/** The server's own files and the files that control an agent, in every mode (manual, auto, yolo), by every detour. */
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveFile } from '#server/permissions/resolve-file.ts';
import { createServerHome } from '#server/home/server-home.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import { createGlobTool } from '#server/builtin-tools/glob.ts';
import { createGrepTool } from '#server/builtin-tools/grep.ts';
import { runTool } from '../builtin-tools/workspace.ts';
import { createProject, git, kind, rule } from './decide.ts';
import type { Project } from './decide.ts';

const modes: PermissionMode[] = ['manual', 'auto', 'yolo'];

let space: Project;
/** A session in the folder that contains everything, under git like dotfiles: its workspace contains the home. */
let wide: Project['environment'];
beforeAll(async () => {
  space = await createProject();
  git(space.root, 'init', '-q');
  wide = { ...space.environment, cwd: space.root };
  const files = {
    'config.toml': '[providers.x]\napi_key = "needle"\n',
    'config.toml.bak': 'api_key = "needle"',
    'mcp.json': '{"needle":1}',
    'server.token': 'needle',
    'server.token.tmp-1': 'needle',
    'credentials/x.json': '{"needle":1}',
    'sessions/wd_project/session_other/journal.ndjson': 'needle',
    'sessions/wd_project/session_test/agents/main/tool-results/out.txt': 'needle',
    'logs/server.log': 'needle',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(space.home, name, '..'), { recursive: true });
    await writeFile(join(space.home, name), text);
  }
});
afterAll(() => space.remove());

const verdicts = (tool: string, path: string) =>
  Promise.all(modes.map((mode) => kind(space.file(tool, path, { mode, places: wide }))));

describe('secrets of the server', () => {
  const secrets = [
    'server.token',
    'server.token.tmp-1',
    'credentials/x.json',
    'credentials',
    'sessions/wd_project/session_other/journal.ndjson',
    'sessions/wd_other/session_x/state.json',
    'sessions/wd_other/session_x',
  ];

  test.each(secrets)('%s is always refused', async (name) => {
    const path = join(space.home, name);
    await expect(resolveFile(path, wide)).rejects.toThrow('sensitive');
    await expect(resolveFile(relative(space.root, path), wide)).rejects.toThrow('sensitive');
    expect(await verdicts('Read', path)).toEqual(['ask', 'approve', 'ask']);
  });

  test.each(['sessions', 'sessions/wd_other', 'sessions/wd_project/session_test'])('%s is none', async (name) => {
    const path = join(space.home, name);
    expect((await resolveFile(path, wide)).path).toBe(path);
  });

  test('through links, other spellings and the process file system', async () => {
    const alias = space.path('home-alias');
    await symlink(space.home, alias);
    const token = space.path('innocent-token');
    await symlink(join(space.home, 'server.token'), token);
    const detours = [
      join(alias, 'server.token'),
      token,
      `${space.home}/sessions/../server.token`,
      `${space.home}/SERVER.TOKEN`,
      `/proc/self/root${space.home}/server.token`,
      '/proc/self/environ',
      '/proc/thread-self/environ',
      `/proc/${process.pid}/environ`,
    ];
    for (const path of detours) await expect([path, resolveFile(path, wide)][1]).rejects.toThrow('sensitive');
  });

  test('a home that is a link, and secrets that are links', async () => {
    const real = join(space.root, 'real-home');
    const home = join(space.root, 'linked-home');
    await mkdir(join(real, 'sessions'), { recursive: true });
    await symlink(real, home);
    await writeFile(join(space.root, 'kept-token'), 'x');
    await symlink(join(space.root, 'kept-token'), join(real, 'server.token'));
    const places = {
      ...wide,
      home: createServerHome(home),
      sessionDir: join(home, 'sessions/wd_x/session_own'),
    };
    for (const path of [
      join(home, 'credentials/x'),
      join(home, 'cache/search-v3.db'),
      join(real, 'credentials/x'),
      join(space.root, 'kept-token'),
    ]) {
      await expect(resolveFile(path, places)).rejects.toThrow('sensitive');
    }
    for (const own of [home, real].map((folder) => join(folder, 'sessions/wd_x/session_own/x'))) {
      expect((await resolveFile(own, places)).path).toBe(own);
    }
  });

  test('sessions that are stored in another folder', async () => {
    const home = join(space.root, 'small-home');
    const kept = join(space.root, 'kept-sessions');
    await mkdir(home);
    await mkdir(kept);
    await symlink(kept, join(home, 'sessions'));
    await symlink('circle', join(home, 'config.toml'));
    await symlink('config.toml', join(home, 'circle'));
    const places = {
      ...wide,
      home: createServerHome(home),
      sessionDir: join(home, 'sessions/wd_x/session_own'),
    };
    for (const folder of [kept, join(home, 'sessions')]) {
      await expect(resolveFile(join(folder, 'wd_x/session_other/x'), places)).rejects.toThrow('sensitive');
      const own = join(folder, 'wd_x/session_own/agents/x');
      expect((await resolveFile(own, places)).path).toBe(own);
      expect(await kind(space.file('Write', own, { mode: 'auto', places }))).toBe('approve');
      expect(await kind(space.file('Write', join(folder, 'x'), { mode: 'auto', places }))).toBe('deny');
    }
  });

  test("the session's folder is readable and not secret", async () => {
    const path = join(space.sessionDir, 'agents/main/tool-results/out.txt');
    expect((await resolveFile(path, wide)).path).toBe(path);
    expect(await verdicts('Read', path)).toEqual(['approve', 'approve', 'approve']);
  });

  test('searches omit them, and the settings unless exactly that file is searched', async () => {
    const grep = await runTool(createGrepTool(), wide, { pattern: 'needle', path: space.home });
    const shown = grep.output.split('\n').filter((line) => !line.startsWith('['));
    expect(shown.toSorted()).toEqual([
      'home/logs/server.log',
      'home/sessions/wd_project/session_test/agents/main/tool-results/out.txt',
    ]);
    const above = await runTool(createGrepTool(), wide, { pattern: 'needle', '-i': true, output_mode: 'content' });
    expect(above.output).not.toMatch(/api_key|token:|credentials|session_other/);
    const glob = await runTool(createGlobTool(), wide, { pattern: '**/*', path: space.home });
    expect(glob.output).not.toMatch(/server\.token|credentials|session_other|config\.toml/);
    const asked = { pattern: 'needle', path: join(space.home, 'config.toml') };
    expect((await runTool(createGrepTool(), wide, asked)).output).toContain('config.toml');
    const other = { pattern: 'needle', path: join(space.home, 'sessions/wd_project/session_other') };
    expect((await runTool(createGrepTool(), wide, other)).output).toContain('No matches found.');
  });
});

describe('control paths', () => {
  test.each([
    'config.toml',
    'AGENTS.md',
    'mcp.json',
    'plugins/x/hook.sh',
    'cache/x',
    'CONFIG.TOML',
    'skills/x/SKILL.md',
  ])('home: a write to %s asks; auto refuses it and returns the reason', async (name) => {
    const path = join(space.home, name);
    for (const tool of ['Write', 'Edit']) expect(await verdicts(tool, path)).toEqual(['ask', 'deny', 'ask']);
    const denied = await space.file('Write', path, { mode: 'auto', places: wide });
    expect(denied.reason).toContain("server's own folder");
  });

  test('auto refuses the home through a link, also where the settings are links to another folder', async () => {
    const alias = space.path('settings');
    await symlink(space.home, alias);
    expect(await kind(space.file('Write', join(alias, 'config.toml'), { mode: 'auto' }))).toBe('deny');
    const dotfile = join(space.root, 'dotfiles.toml');
    await rename(join(space.home, 'config.toml'), dotfile);
    await symlink(dotfile, join(space.home, 'config.toml'));
    expect(await verdicts('Write', dotfile)).toEqual(['ask', 'deny', 'ask']);
    expect(await verdicts('Read', dotfile)).toEqual(['ask', 'approve', 'ask']);
  });

  test.each(['config.toml', 'config.toml.bak', 'mcp.json'])('home: a read of %s asks', async (name) => {
    expect(await verdicts('Read', join(space.home, name))).toEqual(['ask', 'approve', 'ask']);
    const searched = modes.map((mode) =>
      kind(space.search('Grep', 'x', join(space.home, name), { mode, places: wide })),
    );
    expect(await Promise.all(searched)).toEqual(['ask', 'approve', 'ask']);
  });

  test("files of the agents in the session's folder are not control paths", async () => {
    expect(await verdicts('Write', join(space.sessionDir, 'agents/main/plans/x.md'))).toEqual([
      'approve',
      'approve',
      'approve',
    ]);
  });

  test.each(['journal.ndjson', 'state.json', 'lock.2', 'blobs/x', 'JOURNAL.ndjson', 'agents/../journal.ndjson'])(
    "the session's %s records approvals: a write asks, auto refuses it",
    async (name) => {
      const path = join(space.sessionDir, name);
      for (const tool of ['Write', 'Edit']) expect(await verdicts(tool, path)).toEqual(['ask', 'deny', 'ask']);
    },
  );

  test.each([
    '.service-code/local.toml',
    '.service-code/AGENTS.md',
    'sub/.SERVICE-CODE/mcp.json',
    '.mcp.json',
    'sub/.MCP.json',
    '.service-code',
    '.agents/agents/agent.md',
    'sub/.Agents/skills/x/SKILL.md',
    '.agents',
  ])('project: a write to %s asks in manual and yolo, a read does not', async (name) => {
    const write = modes.map((mode) => kind(space.file('Write', name, { mode })));
    expect(await Promise.all(write)).toEqual(['ask', 'approve', 'ask']);
    expect(await kind(space.file('Read', name))).toBe('approve');
  });

  test('project: above the working directory, and through a link', async () => {
    const places = { cwd: space.path('src') };
    expect(await kind(space.file('Write', '.mcp.json', { mode: 'yolo', places }))).toBe('ask');
    expect(await kind(space.file('Write', '.service-code/AGENTS.md', { mode: 'yolo', places }))).toBe('ask');
    await mkdir(space.path('.service-code'), { recursive: true });
    await symlink('.service-code', space.path('plain-name'));
    expect(await kind(space.file('Write', 'plain-name/mcp.json', { mode: 'yolo' }))).toBe('ask');
  });

  test.each(['docs/agents.md', 'src/.agents.ts', 'AGENTS.md', 'sub/agents/x.md'])(
    'project: %s is a plain file',
    async (name) => expect(await kind(space.file('Write', name))).toBe('approve'),
  );

  test("the user's folders of agents are guarded like the home, those that the configuration names like the project's", async () => {
    const [user, named] = [join(space.outside, 'person/.Agents'), join(space.outside, 'more')];
    await mkdir(user, { recursive: true });
    await symlink(user, space.path('by-link'));
    const controlFolders = async () => ({ user: [join(space.outside, 'person/.agents')], named: [named] });
    const write = (path: string) =>
      Promise.all(modes.map((mode) => kind(space.file('Write', path, { mode, controlFolders }))));
    expect(await write(join(user, 'agents/agent.md'))).toEqual(['ask', 'deny', 'ask']);
    expect(await write('by-link/AGENTS.md')).toEqual(['ask', 'deny', 'ask']);
    expect(await write(join(named, 'x.md'))).toEqual(['ask', 'approve', 'ask']);
    const denied = await space.file('Write', join(user, 'x'), { mode: 'auto', controlFolders });
    expect(denied.reason).toContain('own agents and instructions');
  });

  test('an allow rule that names them approves', async () => {
    const rules = [rule('allow', 'Write(.service-code/**)')];
    expect(await kind(space.file('Write', '.service-code/local.toml', { rules }))).toBe('approve');
    expect(await kind(space.file('Write', '.mcp.json', { rules }))).toBe('ask');
  });
});
