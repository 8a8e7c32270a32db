import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { directoriesDown, displayPath, fromWindowsForm, isInside } from '#server/files/paths.ts';
import { resolveTarget } from '#server/runtime/path-policy.ts';
import { resolveFile } from '#server/permissions/resolve-file.ts';
import { realPath } from '#server/runtime/real-path.ts';
import { createWorkspace } from '../builtin-tools/workspace.ts';
import type { Workspace } from '../builtin-tools/workspace.ts';

let space: Workspace;
beforeEach(async () => {
  space = await createWorkspace();
});
afterEach(() => space.remove());

describe('resolving', () => {
  test('expands the home directory and resolves against cwd', async () => {
    expect((await resolveTarget('~', space.environment)).path).toBe(homedir());
    expect((await resolveTarget('~/x/y', space.environment)).path).toBe(join(homedir(), 'x/y'));
    expect((await resolveTarget('a/../b', space.environment)).path).toBe(space.path('b'));
    expect((await resolveTarget('~x', space.environment)).path).toBe(space.path('~x'));
  });

  test('refuses a relative path that leaves the workspace, allows the absolute one', async () => {
    await expect(resolveTarget('../x', space.environment)).rejects.toThrow('outside the workspace');
    expect((await resolveTarget(join(space.root, 'x'), space.environment)).path).toBe(join(space.root, 'x'));
  });

  test('allows a relative path into an additional directory or a skill folder', async () => {
    const environment = {
      ...space.environment,
      additionalDirs: async () => [join(space.root, 'more')],
      readableDirs: () => Promise.resolve([join(space.root, 'skills')]),
    };
    expect((await resolveTarget('../more/x', environment)).path).toBe(join(space.root, 'more/x'));
    expect((await resolveTarget('../skills/x', environment)).path).toBe(join(space.root, 'skills/x'));
    await expect(resolveTarget('../moreover/x', environment)).rejects.toThrow('outside');
  });

  test('detects a link out of the workspace, also below a missing folder and with a missing target', async () => {
    await mkdir(join(space.root, 'out'));
    await symlink(join(space.root, 'out'), space.path('link'));
    await symlink(join(space.root, 'nowhere'), space.path('dangling'));
    await symlink('dangling', space.path('chain'));
    for (const path of ['link', 'link/new/deep.txt', 'dangling', 'dangling/x', 'chain']) {
      await expect(resolveTarget(path, space.environment)).rejects.toThrow('outside');
    }
    expect((await resolveTarget(space.path('link/new'), space.environment)).real).toBe(join(space.root, 'out/new'));
  });

  test('rejects a link cycle instead of looping', async () => {
    await symlink('b', space.path('a'));
    await symlink('a', space.path('b'));
    await expect(resolveTarget('a', space.environment)).rejects.toThrow('Cannot resolve');
  });

  test('a workspace reached through a link contains its own files', async () => {
    await symlink(space.environment.cwd, join(space.root, 'alias'));
    const environment = { ...space.environment, cwd: join(space.root, 'alias') };
    expect((await resolveTarget('x', environment)).real).toBe(space.path('x'));
  });

  test('refuses a NUL character', async () => {
    await expect(resolveTarget('a\0b', space.environment)).rejects.toThrow('NUL');
  });

  test('treats a file instead of a folder as the nearest ancestor', async () => {
    await writeFile(space.path('file'), '');
    expect(await realPath(space.path('file/below'))).toBe(space.path('file/below'));
  });

  test('Windows forms', () => {
    expect(fromWindowsForm('/c/Users/x')).toBe('c:\\Users\\x');
    expect(fromWindowsForm('C:\\x')).toBe('C:\\x');
    expect(fromWindowsForm('/c')).toBe('c:\\');
    expect(fromWindowsForm('/code/x')).toBe('/code/x');
    expect(fromWindowsForm('x/c/y')).toBe('x/c/y');
    expect(fromWindowsForm('D:/x')).toBe('D:/x');
    expect(fromWindowsForm('ab:x')).toBe('ab:x');
    expect(() => fromWindowsForm('C:x')).toThrow('drive');
  });

  test('isInside compares whole segments', () => {
    expect(isInside('/a/b', '/a/b')).toBe(true);
    expect(isInside('/a/b/c', '/a/b')).toBe(true);
    expect(isInside('/a/..x', '/a')).toBe(true);
    expect(isInside('/a/bc', '/a/b')).toBe(false);
    expect(isInside('/a', '/a/b')).toBe(false);
  });

  test('the directories from a root down to a directory', () => {
    expect(directoriesDown('/a', '/a/b/c')).toEqual(['/a', '/a/b', '/a/b/c']);
    expect(directoriesDown('/a', '/a')).toEqual(['/a']);
    expect(directoriesDown('/', '/a')).toEqual(['/', '/a']);
    expect(directoriesDown('/elsewhere', '/a')).toEqual(['/', '/a']);
  });

  test('paths are shown relative to the directory that contains them', () => {
    expect(displayPath('/a/b/c', '/a')).toBe('b/c');
    expect(displayPath('/b', '/a')).toBe('/b');
  });
});

describe('sensitive files', () => {
  test('are refused by both names of a link', async () => {
    await writeFile(space.path('.env'), 'SECRET=1');
    await symlink('.env', space.path('innocent'));
    await writeFile(space.path('plain'), '');
    await symlink('plain', space.path('.env.local'));
    for (const name of ['.env', 'innocent', '.env.local', 'sub/.env']) {
      await expect(resolveFile(name, space.environment)).rejects.toThrow('sensitive');
    }
    await expect(resolveFile('plain', space.environment)).resolves.toEqual({
      path: space.path('plain'),
      real: space.path('plain'),
    });
  });
});
