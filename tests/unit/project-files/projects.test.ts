/** The project of a directory, and the owners whose files above it are accepted. */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createProjects, type Projects } from '#server/project-files/projects.ts';
import { createOwnedRuntime } from '#support/owned-runtime.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const FOREIGN = 65_534;
const ROOT_USER = 0;

let shared: string;
let mine: string;
let owners: Map<string, number>;
let trusted: Set<string>;
let projects: Projects;
beforeEach(async () => {
  shared = join(await temporaryHome(), 'shared');
  mine = join(shared, 'mine');
  await mkdir(mine, { recursive: true });
  execFileSync('git', ['init', '-q', shared]);
  owners = new Map();
  trusted = new Set();
  projects = createProjects({
    runtime: createOwnedRuntime(owners),
    trusted: async (directory) => trusted.has(directory),
  });
});

const foreign = (path: string) => owners.set(join(shared, path), FOREIGN);

describe('.git above the work directory', () => {
  it('is accepted from the effective user', async () => {
    expect(await projects.find(mine)).toEqual({ top: shared, passedOver: [] });
    expect(await projects.rootOf(mine)).toBe(shared);
    expect(await projects.repositoryOf(mine)).toMatchObject({ top: shared, inWorkTree: true });
  });

  it('of another user is ignored: the search continues above it', async () => {
    foreign('.git');
    expect(await projects.find(mine)).toEqual({ top: undefined, passedOver: [shared] });
    expect(await projects.rootOf(mine)).toBe(mine);
    expect(await projects.repositoryOf(mine)).toBeUndefined();
    const inner = join(mine, 'inner');
    await mkdir(join(mine, '.git'), { recursive: true });
    owners.set(join(mine, '.git'), FOREIGN);
    owners.delete(join(shared, '.git'));
    await mkdir(inner);
    expect(await projects.find(inner)).toEqual({ top: shared, passedOver: [mine] });
  });

  it('that is a link is accepted only if the link and its target are', async () => {
    await mkdir(join(shared, 'other'));
    execFileSync('mv', [join(shared, '.git'), join(shared, 'moved')]);
    await symlink('moved', join(shared, '.git'));
    expect((await projects.find(mine)).top).toBe(shared);
    foreign('.git');
    expect((await projects.find(mine)).top).toBeUndefined();
    owners.clear();
    foreign('moved');
    expect((await projects.find(mine)).top).toBeUndefined();
  });

  it.each([
    ['it belongs to root', () => owners.set(join(shared, '.git'), ROOT_USER)],
    ['the user trusts its directory', () => (foreign('.git'), trusted.add(shared))],
    ['the work directory has the same owner', () => (foreign('.git'), foreign('mine'))],
  ])('is accepted when %s', async (_why, prepare) => {
    prepare();
    expect((await projects.find(mine)).top).toBe(shared);
    expect((await projects.repositoryOf(mine))?.top).toBe(shared);
  });

  it('is accepted by a server of root when the repository is mounted with its owner', async () => {
    const runtime = { ...createOwnedRuntime(owners), effectiveUser: () => ROOT_USER };
    const asRoot = createProjects({ runtime, trusted: async () => false });
    for (const path of ['', '.git', 'mine']) foreign(path);
    expect((await asRoot.find(mine)).top).toBe(shared);
    owners.delete(mine);
    expect((await asRoot.find(mine)).top).toBeUndefined();
  });

  it('is always accepted where files have no owners', async () => {
    const runtime = { ...createOwnedRuntime(owners), effectiveUser: () => undefined };
    foreign('.git');
    expect((await createProjects({ runtime, trusted: async () => false }).find(mine)).top).toBe(shared);
  });
});

describe('the work directory and everything below it', () => {
  it('are accepted with any owner', async () => {
    for (const path of ['', '.git', 'mine']) foreign(path);
    foreign('.service-code/local.toml');
    const asked = vi.fn(async () => false);
    const { find, admits } = createProjects({ runtime: createOwnedRuntime(owners), trusted: asked });
    expect((await find(shared)).top).toBe(shared);
    expect(await admits(shared, '.service-code/local.toml', shared)).toBe(true);
    expect(await admits(mine, 'AGENTS.md', shared)).toBe(true);
    expect(asked).not.toHaveBeenCalled();
  });
});

describe('a file above the work directory', () => {
  it('is accepted only if every segment of its path is', async () => {
    await mkdir(join(shared, '.service-code'));
    await writeFile(join(shared, '.service-code', 'AGENTS.md'), '');
    const counts = () => projects.admits(shared, '.service-code/AGENTS.md', mine);
    expect(await counts()).toBe(true);
    foreign('.service-code');
    expect(await counts()).toBe(false);
    owners.clear();
    foreign('.service-code/AGENTS.md');
    expect(await counts()).toBe(false);
    trusted.add(shared);
    expect(await counts()).toBe(true);
  });

  it('is accepted when it is missing, and not when its owner cannot be read', async () => {
    expect(await projects.admits(shared, 'AGENTS.md', mine)).toBe(true);
    await symlink('loop', join(shared, 'loop'));
    expect(await projects.admits(shared, 'loop', mine)).toBe(false);
  });
});
