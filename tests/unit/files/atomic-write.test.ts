import { chmod, lstat, mkdir, readFile, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  followLinks,
  makeDurableDirectory,
  writeFileAtomic,
  writeFileDurable,
  writeThroughLinks,
} from '#server/files/atomic-write.ts';
import { systemClock } from '#server/clock.ts';
import { createLogger } from '#server/logging/log.ts';
import { createStateFiles } from '#server/sessions/index/state-files.ts';
import { fileDriver } from '#server/storage/file-driver.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { watchSyncs } from '#support/watch-syncs.ts';
import { openIndex, sessionRow } from '../sessions/index/index-fixtures.ts';

const inode = async (path: string) => (await stat(path)).ino;

describe('an atomic write', () => {
  it('creates a file that only its owner may read, or one of the given mode', async () => {
    const home = await temporaryHome();
    await writeFileAtomic(join(home, 'private'), 'text');
    await writeFileAtomic(join(home, 'program'), Buffer.from('text'), 0o755);
    const modes = await Promise.all(['private', 'program'].map(async (name) => (await stat(join(home, name))).mode));
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o755 & ~process.umask()]);
    expect(await readFile(join(home, 'program'), 'utf8')).toBe('text');
  });

  it('that fails leaves the old file and no other', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'folder'));
    await expect(writeFileAtomic(join(home, 'folder'), 'text')).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
    expect(await readdir(home)).toEqual(['folder']);
    await expect(writeFileAtomic(join(home, 'none/file'), 'text')).rejects.toThrow('ENOENT');
  });
});

describe('durable writes', () => {
  it('sync the directory after the rename; a cache does not', async () => {
    const home = await temporaryHome();
    const synced = await watchSyncs();
    await writeFileAtomic(join(home, 'cache'), '1');
    expect(synced).toEqual([await inode(join(home, 'cache'))]);
    await writeFileDurable(join(home, 'kept'), '1');
    expect(synced.slice(1)).toEqual([await inode(join(home, 'kept')), await inode(home)]);
  });

  it('sync the parents of new directories, and no existing ones', async () => {
    const home = await temporaryHome();
    const synced = await watchSyncs();
    await makeDurableDirectory(home, join(home, 'a/b'));
    expect(synced).toEqual([await inode(join(home, 'a')), await inode(home)]);
    await makeDurableDirectory(home, join(home, 'a/b'));
    expect(synced).toHaveLength(2);
    expect((await stat(join(home, 'a/b'))).mode & 0o777).toBe(0o700);
  });

  it('fail if their base was removed', async () => {
    const home = await temporaryHome();
    const gone = join(home, 'gone');
    await expect(makeDurableDirectory(gone, join(gone, 'a'))).rejects.toThrow('ENOENT');
    await expect(fileDriver({ base: gone }).setItem?.('x', '1', {})).rejects.toThrow('ENOENT');
    expect(await readdir(home)).toEqual([]);
  });

  it('are used for documents, also for their removal', async () => {
    const home = await temporaryHome();
    const driver = fileDriver({ base: home });
    await mkdir(join(home, 'd'));
    const synced = await watchSyncs();
    await driver.setItem?.('d:x', '1', {});
    expect(synced.at(-1)).toBe(await inode(join(home, 'd')));
    synced.length = 0;
    await driver.removeItem?.('d:x', {});
    expect(synced).toEqual([await inode(join(home, 'd'))]);
  });
});

it('state.json is durable after writing facts that only it has; facts of the journal may come later', async () => {
  const home = await temporaryHome();
  const dir = join(home, 'session');
  await mkdir(dir);
  const { index } = openIndex(home);
  index.upsert(sessionRow('s1'), 1);
  const files = createStateFiles({ index, log: createLogger('silent'), clock: systemClock });
  const synced = await watchSyncs();
  files.writeSoon('s1', dir);
  await files.flush('s1');
  expect(synced).not.toContain(await inode(dir));
  await files.write('s1', dir);
  expect(synced.at(-1)).toBe(await inode(dir));
});

describe('writing through links', () => {
  it('replaces the target of a chain and keeps links and mode', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'dotfiles'));
    await writeFile(join(home, 'dotfiles/real'), 'old', { mode: 0o640 });
    await symlink('dotfiles', join(home, 'alias'));
    await symlink('real', join(home, 'dotfiles/second'));
    await symlink('alias/second', join(home, 'first'));
    await writeThroughLinks(join(home, 'first'), 'new');
    expect(await readlink(join(home, 'first'))).toBe('alias/second');
    expect((await lstat(join(home, 'dotfiles/second'))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(home, 'dotfiles/real'), 'utf8')).toBe('new');
    expect((await stat(join(home, 'dotfiles/real'))).mode & 0o777).toBe(0o640);
    expect((await readdir(join(home, 'dotfiles'))).sort()).toEqual(['real', 'second']);
  });

  it('creates the target of a dangling link, with mode 0600', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'dotfiles'));
    await symlink(join(home, 'dotfiles/real'), join(home, 'link'));
    await writeThroughLinks(join(home, 'link'), 'new');
    expect(await readFile(join(home, 'dotfiles/real'), 'utf8')).toBe('new');
    expect((await stat(join(home, 'dotfiles/real'))).mode & 0o777).toBe(0o600);
  });

  it('keeps a mode that the umask would narrow', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'open'), 'old');
    await chmod(join(home, 'open'), 0o666);
    await writeThroughLinks(join(home, 'open'), 'new');
    expect((await stat(join(home, 'open'))).mode & 0o777).toBe(0o666);
  });

  it('fails where the target cannot be read or is a folder, and leaves no file of its own', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'file'), '');
    await mkdir(join(home, 'folder'));
    await symlink('folder', join(home, 'link'));
    await expect(writeThroughLinks(join(home, 'file/below'), 'new')).rejects.toThrow('ENOTDIR');
    await expect(writeThroughLinks(join(home, 'link'), 'new')).rejects.toThrow(/E[A-Z]+/);
    expect((await readdir(home)).toSorted()).toEqual(['file', 'folder', 'link']);
  });

  it('follows as many links as the system, and no more', async () => {
    const home = await temporaryHome();
    for (let at = 0; at <= 40; at++) await symlink(`link${at + 1}`, join(home, `link${at}`));
    expect(await followLinks(join(home, 'link1'))).toBe(join(home, 'link41'));
    await expect(followLinks(join(home, 'link0'))).rejects.toThrow('too many links');
  });

  it('rejects a loop of links', async () => {
    const home = await temporaryHome();
    await symlink('b', join(home, 'a'));
    await symlink('a', join(home, 'b'));
    await expect(followLinks(join(home, 'a'))).rejects.toThrow('too many links');
  });
});
