/** All access to the project uses the runtime: with another machine's runtime it finds that machine's files. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findNestedInstructions } from '#server/agent/calls/nested-instructions.ts';
import { checkFresh } from '#server/agent/calls/stale-files.ts';
import { createInstructionFiles } from '#server/agent/prompt/instructions.ts';
import { listDirectory } from '#server/agent/prompt/directory-listing.ts';
import { createFetchUrlTool } from '#server/features/web/fetch-url.ts';
import { createWebSearchTool } from '#server/features/web/web-search.ts';
import { createServerHome } from '#server/home/server-home.ts';
import { builtinTools } from '#server/builtin-tools/builtin-tools.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';
import { manualClock } from '#support/manual-clock.ts';
import { noWeb } from '#support/no-web.ts';
import { createPrefixedRuntime, type PrefixedRuntime } from '#support/prefixed-runtime.ts';
import { openProjects } from '#support/projects.ts';
import { tasksOf } from '#support/tasks.ts';
import { openPolicy } from '#support/policy.ts';
import { planTool, runTool } from '../builtin-tools/workspace.ts';

const CWD = '/work/project';

let root: string;
let runtime: PrefixedRuntime;
let environment: ToolEnvironment;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-machine-')));
  runtime = createPrefixedRuntime(root);
  environment = {
    runtime,
    sessionId: 'session_test',
    agentId: 'main',
    cwd: CWD,
    additionalDirs: async () => [],
    readableDirs: () => Promise.resolve([]),
    sessionDir: '/sessions/x',
    home: createServerHome(join(root, 'server-home')),
    activeTools: new Set(),
  };
  await put(`${CWD}/a.txt`, 'needle\n');
  execFileSync('git', ['init', '-q', join(root, CWD)]);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

const tools = builtinTools();
const tool = (name: string) => tools.find((candidate) => candidate.name === name) ?? expect.unreachable(name);
const run = (name: string, args: object) => runTool(tool(name), environment, args);

test.each<[string, object, string]>([
  ['Read', { path: 'a.txt' }, '1\tneedle'],
  ['Read', { path: '~/b.txt' }, '1\tat home'],
  ['Write', { path: 'new/c.txt', content: 'c' }, 'Wrote 1 bytes to new/c.txt.'],
  ['Write', { path: 'a.txt', content: 'c', mode: 'append' }, 'Appended 1 bytes to a.txt.'],
  ['Edit', { path: 'a.txt', old_string: 'needle', new_string: 'pin' }, 'Replaced 1 occurrence in a.txt.'],
  ['Bash', { command: 'cat a.txt; echo $MACHINE $SERVICE_CODE_PASSWORD' }, 'needle\nother\n'],
  ['Grep', { pattern: 'needle' }, 'a.txt'],
  ['Glob', { pattern: '*.txt' }, 'a.txt'],
])('%s %j', async (name, args, output) => {
  await put('/home/somebody/b.txt', 'at home');
  const result = await run(name, args);
  expect(result).toMatchObject({ output });
  expect(result.isError).toBeUndefined();
  expect(runtime.calls.get('realpath')).toBeGreaterThan(0);
});

test('these tests cover every tool of the list', () => {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write']);
});

test('web requests are sent by the server and do not use that machine', async () => {
  const page = { url: 'https://example.com/', verbatim: true, title: '', text: 'text' };
  const web = { ...noWeb, fetchPage: async () => page, search: async () => [] };
  expect(await runTool(createFetchUrlTool(web), environment, { url: page.url })).toMatchObject({
    output: expect.stringContaining('\n\ntext'),
  });
  await runTool(createWebSearchTool(web), environment, { query: 'x' });
  expect(Object.fromEntries(runtime.calls)).toEqual({});
});

test('files are written to that machine', async () => {
  await run('Write', { path: 'new/c.txt', content: 'c' });
  expect(await readFile(join(root, CWD, 'new/c.txt'), 'utf8')).toBe('c');
});

test('permissions check the links, folders and repository of that machine', async () => {
  const policy = openPolicy({ repositoryOf: openProjects({ runtime }).repositoryOf });
  const verdict = async (name: string, args: object) => {
    const plan = await planTool(tool(name), environment, args);
    const { subject, accesses } = plan;
    const { permission, effects } = tool(name);
    const call = { toolName: name, agentId: 'main', permission, effects, subject, accesses };
    return (await policy.decide(call, { mode: 'manual', rules: [], remembered: [], places: environment })).kind;
  };
  await put('/elsewhere/x', '');
  await symlink(join(root, 'elsewhere'), join(root, CWD, 'out'));
  expect(await verdict('Read', { path: 'a.txt' })).toBe('approve');
  expect(await verdict('Write', { path: 'a.txt', content: '' })).toBe('approve');
  expect(await verdict('Read', { path: `${CWD}/out/x` })).toBe('ask');
  expect(await verdict('Write', { path: `${CWD}/.git/config`, content: '' })).toBe('ask');
});

test('instructions, listings and the stale-file guard read that machine’s files', async () => {
  await put('/home/somebody/.agents/AGENTS.md', 'of the person');
  await put(`${CWD}/AGENTS.md`, 'of the project');
  await put(`${CWD}/sub/AGENTS.md`, 'of the folder');
  const files = createInstructionFiles({
    runtime,
    projects: openProjects({ runtime }),
    home: '/server',
    isSecret: async () => false,
    clock: manualClock(),
  });
  expect((await files.read(CWD)).paths).toEqual(['/home/somebody/.agents/AGENTS.md', `${CWD}/AGENTS.md`]);
  const touched = { accesses: [], command: { line: 'ls sub', cwd: CWD }, cwd: CWD };
  expect(await findNestedInstructions(touched, new Set(), { files, runtime })).toContain(`${CWD}/sub/AGENTS.md`);
  expect(await listDirectory(CWD, runtime)).toContain('sub/\n  AGENTS.md');
  expect(await checkFresh(new Map(), `${CWD}/a.txt`, runtime)).toContain('has not been read');
});

test('a read needs few file system calls', async () => {
  const plan = await planTool(tool('Read'), environment, { path: 'a.txt' });
  expect(Object.fromEntries(runtime.calls)).toEqual({ realpath: 1 });
  runtime.calls.clear();
  await plan.run({
    ...environment,
    toolCallId: 'c',
    turnId: 0,
    signal: new AbortController().signal,
    progress() {},
    finish: () => [],
    tasks: tasksOf(environment.sessionDir),
  });
  expect(Object.fromEntries(runtime.calls)).toEqual({ realpath: 1, openFile: 1 });
});
