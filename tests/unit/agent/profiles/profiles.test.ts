/** Profiles of agent files: their folders, their priorities, and the limits of a hostile project. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtinProfiles } from '#server/agent/profiles/built-in.ts';
import { AGENT_FILE_BYTES, createAgentProfiles, type AgentProfiles } from '#server/agent/profiles/profiles.ts';
import type { MarkdownFolder } from '#server/files/markdown-files.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { temporaryFolder } from '#support/session-logs.ts';
import { openProjects } from '#support/projects.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let profiles: AgentProfiles;
let addedFolders: MarkdownFolder[];
let extraDirs: string[];
let logged: unknown[];
let reads: string[];
let now: number;
let trusted: Set<string>;

const at = (...names: string[]) => join(folder.path, ...names);
const project = (...names: string[]) => at('project', ...names);

beforeEach(async () => {
  folder = await temporaryFolder();
  addedFolders = [];
  extraDirs = [];
  logged = [];
  reads = [];
  now = 0;
  trusted = new Set();
  await mkdir(project(), { recursive: true });
  const runtime = createLocalRuntime();
  profiles = createAgentProfiles({
    files: {
      ...runtime,
      readFile(path, limits) {
        reads.push(path);
        return runtime.readFile(path, limits);
      },
    },
    home: at('home'),
    homeDirectory: () => at('person'),
    addedFolders: () => addedFolders,
    extraDirs: () => extraDirs,
    project: () => Promise.resolve({ top: project(), passedOver: [] }),
    admits: openProjects().admits,
    trusted: async (directory) => trusted.has(directory),
    clock: { now: () => now },
    maxAgeMs: 1000,
    log: { warn: (_message, fields) => void logged.push(fields) },
  });
});
afterEach(() => folder.remove());

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}
const agent = (more = '', body = 'You help.') => `---\ndescription: D\n${more}\n---\n${body}`;
const look = async () => {
  now += 1000;
  return profiles.look(project('sub'));
};
const names = async () => [...(await look()).profiles.keys()].filter((name) => !builtinProfiles.has(name)).toSorted();
const workspace = (...path: string[]) => project('.service-code', 'agents', ...path);

describe('files', () => {
  it('are found in all folders and their subfolders', async () => {
    extraDirs = [at('extra'), 'more', '~/mine'];
    await put(at('home', 'agents', 'a.md'), agent());
    await put(at('person', '.agents', 'agents', 'b.md'), agent());
    await put(at('extra', 'c.md'), agent());
    await put(project('more', 'd.md'), agent());
    await put(at('person', 'mine', 'e.md'), agent());
    await put(workspace('f.md'), agent());
    await put(project('.agents', 'agents', 'deep', 'er', 'g.md'), agent());
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('of other kinds, hidden ones and those too deep are omitted', async () => {
    const deep = Array.from({ length: 7 }, (_, level) => `d${level}`);
    await put(workspace(...deep, 'eight.md'), agent());
    await put(workspace(...deep, 'd8', 'nine.md'), agent());
    await put(workspace('a.txt'), agent());
    await put(workspace('.hidden.md'), agent());
    await put(workspace('.hidden', 'b.md'), agent());
    await put(workspace('node_modules', 'c.md'), agent());
    await mkdir(workspace('folder.md'));
    expect(await names()).toEqual(['eight']);
  });

  it('that are broken yield a warning with their path, repeated only when they change', async () => {
    const path = await put(workspace('a.md'), 'nothing');
    for (let file = 0; file < 8; file += 1) await put(workspace(`b${file}.md`), 'nothing');
    const first = (await look()).warnings;
    expect(first).toHaveLength(9);
    expect(first[0]).toEqual({
      code: 'agent-file-invalid',
      message: expect.stringContaining(path),
      severity: 'warning',
    });
    expect(logged).toHaveLength(5);
    expect((await look()).warnings[0]).toBe(first[0]);
    expect(logged).toHaveLength(5);
    await put(path, 'nothing else');
    const [again, ...others] = (await look()).warnings;
    expect(again).toEqual(first[0]);
    expect(again).not.toBe(first[0]);
    expect(others[0]).toBe(first[1]);
    await put(path, agent());
    expect((await look()).warnings).toHaveLength(8);
    expect(await names()).toEqual(['a']);
  });

  it('are read when they have changed, and checked once per `maxAgeMs`', async () => {
    const path = await put(workspace('a.md'), agent('name: one'));
    expect(await names()).toEqual(['one']);
    const first = await look();
    expect(await look()).toBe(first);
    expect(reads).toEqual([path]);
    await put(path, agent('name: other'));
    expect([...(await profiles.look(project('sub'))).profiles.keys()]).toContain('one');
    expect([...profiles.seen(project('sub')).profiles.keys()]).toContain('one');
    expect(await names()).toEqual(['other']);
    await utimes(path, 1, 1);
    await names();
    expect(reads).toEqual([path, path, path]);
    await rm(path);
    expect(await names()).toEqual([]);
    expect([...profiles.seen('/elsewhere').profiles.keys()]).toEqual([...builtinProfiles.keys()]);
  });
});

describe('of several with one name', () => {
  it("the project's wins, then extra folders, then the user's, then added folders", async () => {
    extraDirs = [at('extra'), at('second')];
    const template = async () => (await look()).profiles.get('a')?.template;
    addedFolders = [{ path: at('plugin') }, { path: at('other-plugin') }];
    await put(at('other-plugin', 'a.md'), agent('', 'of the other plugin'));
    expect(await template()).toBe('of the other plugin');
    await put(at('plugin', 'deep', 'a.md'), agent('', 'of the plugin'));
    expect(await template()).toBe('of the plugin');
    await put(at('person', '.agents', 'agents', 'a.md'), agent('', 'of the person'));
    expect(await template()).toBe('of the person');
    await put(at('home', 'agents', 'a.md'), agent('', 'of the home'));
    expect(await template()).toBe('of the home');
    await put(at('second', 'a.md'), agent('', 'extra 2'));
    await put(at('extra', 'a.md'), agent('', 'extra 1'));
    expect(await template()).toBe('extra 1');
    await put(project('.agents', 'agents', 'a.md'), agent('', 'of the project'));
    expect(await template()).toBe('of the project');
    await put(workspace('z.md'), agent('name: a', 'of its own folder'));
    expect(await template()).toBe('of its own folder');
  });

  it('those of added folders appear and disappear without a restart; a built-in one is replaced only by an override', async () => {
    await put(at('plugin', 'b.md'), agent());
    await put(at('plugin', 'coder.md'), agent());
    await put(at('plugin', 'plan.md'), agent('override: true', 'Plan as the plugin says.'));
    expect(await names()).toEqual([]);
    addedFolders = [{ path: at('plugin') }];
    expect(await names()).toEqual(['b']);
    const { profiles: found, warnings } = await look();
    expect(found.get('coder')).toBe(builtinProfiles.get('coder'));
    expect(found.get('plan')?.template).toBe('Plan as the plugin says.');
    expect(warnings).toMatchObject([{ message: expect.stringContaining('override') }]);
    addedFolders = [];
    expect(await names()).toEqual([]);
    expect((await look()).profiles.get('plan')).toBe(builtinProfiles.get('plan'));
  });

  it('a change of the added folders is noticed before `maxAgeMs` has passed', async () => {
    await put(at('plugin', 'b.md'), agent());
    await look();
    addedFolders = [{ path: at('plugin') }];
    expect((await profiles.look(project('sub'))).profiles.has('b')).toBe(true);
    addedFolders = [];
    expect((await profiles.look(project('sub'))).profiles.has('b')).toBe(false);
  });

  it('a built-in one is replaced only by an override, which inherits its subagents', async () => {
    const path = await put(workspace('agent.md'), agent('tools: Read'));
    const refused = await look();
    expect(refused.profiles.get('agent')).toBe(builtinProfiles.get('agent'));
    expect(refused.warnings).toMatchObject([{ message: expect.stringContaining('override') }]);
    expect((await look()).warnings[0]).toBe(refused.warnings[0]);
    await put(path, agent('tools: Read\noverride: true', 'Mine.'));
    trusted.add(project());
    const replaced = (await look()).profiles.get('agent');
    expect(replaced).toEqual({
      name: 'agent',
      description: 'D',
      tools: ['Read'],
      subagents: builtinProfiles.get('agent')?.subagents,
      template: 'Mine.',
    });
    await put(path, agent('override: true\nsubagents: []'));
    expect((await look()).profiles.get('agent')?.subagents).toEqual([]);
  });

  it('the main prompt of an untrusted project is ignored; its other agents are not', async () => {
    const path = await put(workspace('agent.md'), agent('override: true', 'Mine.'));
    await put(workspace('coder.md'), agent('override: true', 'Code as we do.'));
    await put(workspace('new.md'), agent());
    const { profiles: found, warnings } = await look();
    expect(found.get('agent')).toBe(builtinProfiles.get('agent'));
    expect(found.get('coder')?.template).toBe('Code as we do.');
    expect(found.has('new')).toBe(true);
    expect(warnings).toEqual([
      {
        code: 'project-config-ignored',
        message: `${path} has no effect: ${project()} is not trusted.`,
        severity: 'warning',
        directory: project(),
      },
    ]);
    expect((await look()).warnings[0]).toBe(warnings[0]);
    trusted.add(project());
    expect(await look()).toMatchObject({ warnings: [] });
    expect((await look()).profiles.get('agent')?.template).toBe('Mine.');
    trusted.clear();
    expect((await look()).profiles.get('agent')).toBe(builtinProfiles.get('agent'));
    // The user's own file needs no trust.
    await put(at('home', 'agents', 'agent.md'), agent('override: true', 'The user says.'));
    expect((await look()).profiles.get('agent')?.template).toBe('The user says.');
  });

  it.each([
    ['a relative path', () => 'more'],
    ['an absolute path', () => project('more')],
    ['the project itself', () => '.'],
  ])('the main prompt in an extra folder of an untrusted project has no effect: %s', async (_what, entry) => {
    extraDirs = [entry()];
    const path = await put(project('more', 'agent.md'), agent('override: true', 'Mine.'));
    await put(project('more', 'coder.md'), agent('override: true', 'Code as we do.'));
    const { profiles: found, warnings } = await look();
    expect(found.get('agent')).toBe(builtinProfiles.get('agent'));
    expect(found.get('coder')?.template).toBe('Code as we do.');
    expect(warnings).toMatchObject([
      { message: `${path} has no effect: ${project()} is not trusted.`, directory: project() },
    ]);
    trusted.add(project());
    expect((await look()).profiles.get('agent')?.template).toBe('Mine.');
  });

  it.each([
    ['an absolute path', () => at('extra')],
    ['a path in the home', () => '~/mine'],
    ['a relative path that leaves the project', () => '../extra'],
  ])('the main prompt in an extra folder of the user needs no trust: %s', async (_what, entry) => {
    extraDirs = [entry()];
    await put(at('extra', 'agent.md'), agent('override: true', 'The user says.'));
    await put(at('person', 'mine', 'agent.md'), agent('override: true', 'The user says.'));
    const { profiles: found, warnings } = await look();
    expect(found.get('agent')?.template).toBe('The user says.');
    expect(warnings).toEqual([]);
  });

  it('SYSTEM.md replaces only the main prompt, unless it is blank', async () => {
    const main = async () => (await look()).profiles.get('agent');
    const path = await put(at('home', 'SYSTEM.md'), ' \n');
    expect(await main()).toBe(builtinProfiles.get('agent'));
    await put(path, 'My own.\n');
    expect(await main()).toEqual({ ...builtinProfiles.get('agent'), template: 'My own.' });
    await rm(path);
    expect(await main()).toBe(builtinProfiles.get('agent'));
  });

  it('SYSTEM.md that cannot be read is omitted, which is logged', async () => {
    const path = await put(at('home', 'SYSTEM.md'), 'x'.repeat(AGENT_FILE_BYTES + 1));
    expect((await look()).profiles.get('agent')).toBe(builtinProfiles.get('agent'));
    expect(logged).toEqual([{ path, err: expect.any(Error) }]);
  });
});

describe('a hostile project', () => {
  beforeEach(async () => {
    await put(at('secrets', 'key.md'), agent('name: stolen', 'the key'));
    await mkdir(workspace(), { recursive: true });
  });

  it('cannot link to files and folders outside of it', async () => {
    await symlink(at('secrets', 'key.md'), workspace('a.md'));
    await symlink(at('secrets'), workspace('b'));
    await symlink(at('secrets'), project('.agents'));
    await put(at('secrets', 'agents', 'c.md'), agent());
    expect(await names()).toEqual([]);
    expect(reads).toEqual([]);
    await rm(project('.service-code'), { recursive: true });
    await symlink(at('secrets'), project('.service-code'));
    expect(await names()).toEqual([]);
    expect(reads).toEqual([]);
  });

  it('cannot link to files and folders outside of it in an extra folder', async () => {
    extraDirs = ['more', 'linked'];
    await put(project('more', 'a.md'), agent());
    await symlink(at('secrets', 'key.md'), project('more', 'b.md'));
    await symlink(at('secrets'), project('linked'));
    expect(await names()).toEqual(['a']);
    expect(reads).toEqual([project('more', 'a.md')]);
  });

  it('or plugin cannot link to files outside of its installation', async () => {
    await mkdir(at('plugin', 'agents'), { recursive: true });
    await symlink(at('secrets', 'key.md'), at('plugin', 'agents', 'a.md'));
    await put(at('plugin', 'agents', 'b.md'), agent());
    addedFolders = [{ path: at('plugin', 'agents'), within: at('plugin') }];
    expect(await names()).toEqual(['b']);
  });

  it('may contain links to its own files, and cycles', async () => {
    await put(project('docs', 'a.md'), agent());
    await symlink(project('docs', 'a.md'), workspace('a.md'));
    await symlink(workspace(), workspace('self'));
    await symlink(workspace('loop.md'), workspace('loop.md'));
    await symlink(project('missing.md'), workspace('missing.md'));
    expect(await names()).toEqual(['a']);
  });

  it('cannot block with irregular files, or with too many or too large ones', async () => {
    execFileSync('mkfifo', [workspace('pipe.md')]);
    await put(workspace('large.md'), agent('', 'x'.repeat(AGENT_FILE_BYTES)));
    await put(workspace('largest.md'), agent('', 'x'.repeat(20 * AGENT_FILE_BYTES)));
    for (let file = 0; file < 300; file += 1) await put(workspace('many', `m${file}.md`), agent());
    const { profiles: found, warnings } = await look();
    expect(found.size - builtinProfiles.size).toBeLessThanOrEqual(200);
    expect(warnings).toHaveLength(2);
  });
});

it('an extra folder of the user may link to any path', async () => {
  extraDirs = [at('extra')];
  await put(at('dotfiles', 'a.md'), agent());
  await mkdir(at('extra'));
  await symlink(at('dotfiles', 'a.md'), at('extra', 'a.md'));
  expect(await names()).toEqual(['a']);
});

it("the user's folders may link to any path", async () => {
  await put(at('dotfiles', 'a.md'), agent());
  await mkdir(at('home', 'agents'), { recursive: true });
  await symlink(at('dotfiles', 'a.md'), at('home', 'agents', 'a.md'));
  await mkdir(at('person', '.agents'), { recursive: true });
  await put(at('other', 'b.md'), agent());
  await symlink(at('other'), at('person', '.agents', 'agents'));
  expect(await names()).toEqual(['a', 'b']);
});
