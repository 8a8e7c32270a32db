import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workspaceId } from '#schema/scalars.ts';
import {
  checkDirectory,
  checkRoot,
  defaultName,
  normalRoot,
  rootKey,
  workspaceIdOf,
} from '#server/workspaces/workspace-root.ts';
import { temporaryHome } from '#support/temporary-home.ts';

describe('workspace ids', () => {
  it('hash the empty text for the root directory', () => {
    expect(workspaceIdOf('/')).toBe('wd_workspace_e3b0c44298fc');
  });

  it.each([
    ['/x/WsOne', 'wsone'],
    ['/x/Ünï Çode', 'n-ode'],
    ['/x/--a--', 'a'],
    ['/x/a.b_c-d', 'a.b_c-d'],
    ['/x/漢字', 'workspace'],
    ['/x/..%..', '..-..'],
    [`/x/${'a'.repeat(39)} b`, 'a'.repeat(39)],
    [`/x/${'a'.repeat(50)}`, 'a'.repeat(40)],
    ['C:\\Users\\Me\\My Proj', 'my-proj'],
  ])('%s has the slug %s', (root, slug) => {
    const id = workspaceIdOf(root);
    expect(id.slice(3, -13)).toBe(slug);
    expect(workspaceId.safeParse(id).success).toBe(true);
  });

  it('distinguish roots of the same name and ignore trailing slashes', () => {
    expect(workspaceIdOf('/a/x')).not.toBe(workspaceIdOf('/b/x'));
    expect(workspaceIdOf('/a/x/')).toBe(workspaceIdOf('/a/x'));
    expect(workspaceIdOf('C:\\a\\x')).toBe(workspaceIdOf('C:/a/x'));
  });
});

describe('roots', () => {
  it.each([
    ['/a//b/./c/..', '/a/b'],
    ['/a/', '/a'],
    ['/', '/'],
    ['//', '/'],
  ])('%s is stored as %s', (given, stored) => expect(normalRoot(given)).toBe(stored));

  it('have a case-insensitive key on Windows', () => {
    expect(rootKey('C:\\Work')).toBe(rootKey('c:/work/'));
    expect(rootKey('\\\\Server\\Share')).toBe(rootKey('//server/share'));
    expect(rootKey('/Work')).not.toBe(rootKey('/work'));
  });

  it('determine the default name', () => {
    expect(defaultName('/a/My Proj')).toBe('My Proj');
    expect(defaultName('/')).toBe('/');
    expect(defaultName(`/${'x'.repeat(99)}\u{1F600}`)).toBe('x'.repeat(99));
  });
});

describe('checking a directory', () => {
  it('accepts a directory and a link to one', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'd'));
    await symlink(join(home, 'd'), join(home, 'link'));
    for (const path of [join(home, 'd'), join(home, 'link')]) {
      await expect(checkRoot(path)).resolves.toBeUndefined();
      await expect(checkDirectory(path, 'workspace root')).resolves.toBeUndefined();
    }
  });

  it('reports the first error, in a fixed order', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'file'), '');
    await symlink(join(home, 'loop'), join(home, 'loop'));
    for (const root of ['relative', '~', '~/x']) {
      await expect(checkRoot(root)).rejects.toMatchObject({
        code: 40001,
        details: [{ path: 'root', message: 'root must be an absolute path' }],
      });
      await expect(checkDirectory(root, 'workspace root')).rejects.toMatchObject({
        code: 40409,
        message: `workspace root ${root} does not exist`,
      });
    }
    const missing = ['gone', 'file/below', 'loop', 'nul\u0000', 'x'.repeat(300)];
    for (const root of missing.map((name) => `${home}/${name}`)) {
      await expect(checkRoot(root)).rejects.toMatchObject({ code: 40409, message: `root ${root} does not exist` });
    }
    const file = join(home, 'file');
    await expect(checkRoot(file)).rejects.toMatchObject({ code: 40409, message: `root ${file} is not a directory` });
  });
});
