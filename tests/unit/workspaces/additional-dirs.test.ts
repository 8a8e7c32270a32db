import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { createLogger } from '#server/logging/log.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { createAdditionalDirs } from '#server/workspaces/additional-dirs.ts';
import { createConfirmedDirs } from '#server/workspaces/confirmed-dirs.ts';
import { writeDirectories } from '#server/workspaces/local-config.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { eventually } from '#support/patience.ts';
import { openProjects } from '#support/projects.ts';
import { createRobbedLock } from '#support/robbed-lock.ts';
import { temporaryHome } from '#support/temporary-home.ts';

/** A workspace `<top>/project` without a repository above it, next to directories `a`, `b` and `c`. */
async function openProject() {
  const top = await temporaryHome();
  const root = join(top, 'project');
  for (const name of ['project', 'a', 'b', 'c', 'home']) await mkdir(join(top, name));
  const lines: string[] = [];
  const elsewhere: string[] = [];
  const documents = createDocuments({ home: join(top, 'home') });
  const trusted = new Set<string>();
  const isTrusted = async (directory: string) => trusted.has(directory);
  const confirmed = createConfirmedDirs(documents);
  const writer = { confirm: confirmed.add, writeDirectories };
  const open = (lock = createChangeLock({ path: join(top, 'lock'), holder: leaseHolder(), writer })) =>
    createAdditionalDirs({
      lock,
      runtime: { homeDirectory: () => join(top, 'home'), realpath: async (path) => path },
      rootOf: openProjects({ trusted: isTrusted }).rootOf,
      trusted: isTrusted,
      confirmed,
      addedElsewhere: (_root, directories) => void elsewhere.push(...directories),
      clock: systemClock,
      log: createLogger('warn', (line) => void lines.push(line)),
    });
  const config = join(root, '.service-code/local.toml');
  return {
    top,
    root,
    config,
    lines,
    elsewhere,
    trusted,
    open,
    confirmed,
    robbed: () => open(createRobbedLock(join(top, 'lock'), writer)),
    dirs: open(),
    at: (name: string) => join(top, name),
    async write(text: string | Buffer) {
      await mkdir(join(root, '.service-code'), { recursive: true });
      await writeFile(config, text);
    },
    text: () => readFile(config, 'utf8'),
  };
}

const listOf = (...paths: string[]) => `[workspace]\nadditional_dir = ${JSON.stringify(paths)}\n`;
const refused = (message: string) => ({ code: 40001, message, details: undefined });

describe('adding to the file', () => {
  it('writes it a single time, makes entries absolute and preserves other keys', async () => {
    const { root, config, dirs, at, write, text, trusted } = await openProject();
    trusted.add(root);
    await write(
      'top = 1\n# a comment\n[workspace]\nkind = "x"\nadditional_dir = ["../a", "../a/", "../gone"]\n[other]\nf = 1.0\n',
    );
    const answer = { project_root: root, config_path: config, persisted: true };
    const listed = [at('a'), at('gone'), at('b')];
    expect(await dirs.add(root, at('b/../b/'), true)).toEqual({ ...answer, additional_dirs: listed });
    const written = await text();
    for (const line of ['top = 1', 'kind = "x"', 'f = 1.0', at('gone')]) expect(written).toContain(line);
    const before = await stat(config);
    expect(await dirs.add(root, '../b', true)).toEqual({ ...answer, additional_dirs: listed });
    expect((await stat(config)).ino).toBe(before.ino);
    // Missing directories are not returned.
    expect(await dirs.of(root)).toEqual([at('a'), at('b')]);
  });

  it('uses the file at the top of the repository, with paths relative to the workspace', async () => {
    const { top, root, dirs, at } = await openProject();
    execFileSync('git', ['init', '-q', top]);
    await mkdir(join(root, 'sub'));
    const answer = await dirs.add(root, ' sub ', true);
    expect(answer).toMatchObject({ project_root: top, config_path: at('.service-code/local.toml') });
    expect(answer.additional_dirs).toEqual([join(root, 'sub')]);
    // A worktree has a file `.git`.
    await writeFile(join(root, '.git'), 'gitdir: elsewhere');
    expect(await dirs.add(root, '.', true)).toMatchObject({ project_root: root, additional_dirs: [root] });
  });

  it("expands only the user's home", async () => {
    const { root, dirs, at } = await openProject();
    await mkdir(at('home/x'));
    expect((await dirs.add(root, '~', true)).additional_dirs).toEqual([at('home')]);
    expect((await dirs.add(root, '~/x', true)).additional_dirs).toEqual([at('home'), at('home/x')]);
    await expect(dirs.add(root, '~x', true)).rejects.toMatchObject({ code: 40409 });
  });

  it('loses no concurrent addition', async () => {
    const { root, open, at } = await openProject();
    const [one, two] = [open(), open()];
    await Promise.all([one.add(root, at('a'), true), two.add(root, at('b'), true), one.add(root, at('c'), true)]);
    expect([...(await open().of(root))].sort()).toEqual([at('a'), at('b'), at('c')]);
  });

  it('is refused when another server took the lock while the process was suspended', async () => {
    const { root, dirs, robbed, confirmed, at, text } = await openProject();
    await dirs.add(root, at('a'), true);
    const before = await text();
    await expect(robbed().add(root, at('b'), true)).rejects.toMatchObject({ code: 50003 });
    expect(await text()).toBe(before);
    expect(await confirmed.of(root)).toEqual([at('a')]);
  });

  it('throws `persistence.failure` when the file cannot be written, and leaves no file', async () => {
    const { root, dirs, at, config } = await openProject();
    await writeFile(join(root, '.service-code'), 'a file');
    await expect(dirs.add(root, at('a'), true)).rejects.toMatchObject({
      code: 50003,
      message: expect.stringContaining(`Failed to write ${config}: `),
    });
    expect(await dirs.of(root)).toEqual([]);
    expect(await readdir(root)).toEqual(['.service-code']);
  });
});

describe('adding until the process exits', () => {
  it('leaves the file unchanged and follows its entries; written later it is listed a single time', async () => {
    const { root, dirs, open, at, write, text, trusted } = await openProject();
    trusted.add(root);
    await write(listOf(at('a')));
    const before = await text();
    expect(await dirs.add(root, at('b'), false)).toMatchObject({
      persisted: false,
      additional_dirs: [at('a'), at('b')],
    });
    expect(await dirs.add(root, at('a'), false)).toMatchObject({ additional_dirs: [at('a'), at('b')] });
    expect(await text()).toBe(before);
    expect(await dirs.of(root)).toEqual([at('a'), at('b')]);
    expect(await open().of(root)).toEqual([at('a')]);
    expect((await dirs.add(root, at('c'), false)).additional_dirs).toEqual([at('a'), at('b'), at('c')]);
    expect((await dirs.add(root, at('c'), true)).additional_dirs).toEqual([at('a'), at('c'), at('b')]);
  });

  it('is refused while the file lists a missing directory', async () => {
    const { root, dirs, at, write } = await openProject();
    await write(listOf(at('gone')));
    await expect(dirs.add(root, at('a'), false)).rejects.toMatchObject(
      refused('workspace.additional_dir must exist and be a directory'),
    );
    expect(await dirs.of(root)).toEqual([]);
  });
});

describe('the path', () => {
  it('must be an existing directory, reported as passed', async () => {
    const { root, dirs, at } = await openProject();
    await writeFile(at('file'), '');
    for (const persist of [true, false]) {
      for (const [path, error] of [
        [' ', { code: 40001, details: [{ path: 'path', message: 'path must not be blank' }] }],
        ['x\0', { code: 40001, details: [{ path: 'path' }] }],
        [' ../gone', { code: 40409, message: 'path  ../gone does not exist' }],
        ['../file', { code: 40409, message: 'path ../file is not a directory' }],
        ['../file/x', { code: 40409, message: 'path ../file/x does not exist' }],
      ] as const) {
        await expect(dirs.add(root, path, persist)).rejects.toMatchObject(error);
      }
    }
    await symlink(at('a'), at('link'));
    expect((await dirs.add(root, '../link', true)).additional_dirs).toEqual([at('link')]);
  });

  it('is checked before the file', async () => {
    const { root, dirs, write } = await openProject();
    await write('broken');
    await expect(dirs.add(root, '../gone', true)).rejects.toMatchObject({ code: 40409 });
  });

  it('cannot exceed the limit', async () => {
    const { root, dirs, at, write } = await openProject();
    await write(listOf(...Array.from({ length: 100 }, (_, n) => `/x/${n}`)));
    const message = 'a workspace has at most 100 additional directories';
    await expect(dirs.add(root, at('a'), true)).rejects.toMatchObject(refused(message));
  });
});

describe('edits by other programs', () => {
  it('apply after the file has been unchanged for a moment', async () => {
    const { root, dirs, at, write, config, trusted } = await openProject();
    trusted.add(root);
    expect(await dirs.of(root)).toEqual([]);
    const begun = Date.now();
    await write(listOf(at('a')));
    await eventually(async () => expect(await dirs.of(root)).toEqual([at('a')]));
    expect(Date.now() - begun).toBeGreaterThanOrEqual(200);
    await write(listOf(at('a'), '../b'));
    await eventually(async () => expect(await dirs.of(root)).toEqual([at('a'), at('b')]));
    await rm(at('a'), { recursive: true });
    await eventually(async () => expect(await dirs.of(root)).toEqual([at('b')]));
    await rm(config);
    await eventually(async () => expect(await dirs.of(root)).toEqual([]));
  });

  it('of an invalid file remove its directories and are logged, until it is repaired', async () => {
    const { root, dirs, at, write, lines, trusted } = await openProject();
    trusted.add(root);
    await write(listOf(at('a')));
    await dirs.add(root, at('b'), false);
    expect(await dirs.of(root)).toEqual([at('a'), at('b')]);
    await write('[workspace');
    await eventually(async () => expect(await dirs.of(root)).toEqual([at('b')]));
    expect(lines).toHaveLength(1);
    await write(listOf(at('a')));
    await eventually(async () => expect(await dirs.of(root)).toEqual([at('a'), at('b')]));
  });
});

describe('a file that came with a hostile project', () => {
  const cases: [name: string, text: string | Buffer, message: string][] = [
    ['no TOML', '[workspace', 'Invalid TOML in <path>'],
    ['another TOML', 'workspace = "x"', 'workspace must be a table'],
    ['tables', '[[workspace]]\n', 'workspace must be a table'],
    ['a date', 'workspace = 2026-01-01', 'workspace must be a table'],
    ['a text', '[workspace]\nadditional_dir = "/"', 'workspace.additional_dir must be an array of strings'],
    ['numbers', '[workspace]\nadditional_dir = [1]', 'workspace.additional_dir must be an array of strings'],
    ['too much', `#${'x'.repeat(16_384)}`, '<path> is larger than 16384 bytes'],
    [
      'too many',
      listOf(...Array.from({ length: 101 }, (_, n) => `/${n}`)),
      'workspace.additional_dir must have at most 100 entries',
    ],
    ['no text', Buffer.from([0, 255, 254, 1]), 'Invalid TOML in <path>'],
    ['deep arrays', `a=${'['.repeat(16_000)}`, 'Invalid TOML in <path>'],
  ];

  it.each(cases)('%s: `validation.failed`, an unchanged file, and no directory', async (_name, text, message) => {
    const { root, dirs, at, write, config } = await openProject();
    await write(text);
    for (const persist of [true, false]) {
      await expect(dirs.add(root, at('a'), persist)).rejects.toMatchObject(refused(message.replace('<path>', config)));
    }
    expect(await readFile(config)).toEqual(Buffer.from(text));
    expect(await dirs.of(root)).toEqual([]);
  });

  it.each([
    ['deep keys', `a${'.a'.repeat(8000)}=1`],
    ['a long array', `a=[${'1,'.repeat(8000)}]`],
    ['many tables', Array.from({ length: 2700 }, (_, n) => `[${n.toString(36)}]`).join('\n')],
  ])('%s take little time', async (_name, text) => {
    const { root, dirs, write } = await openProject();
    await write(text);
    await dirs.of(root);
    const begun = performance.now();
    await expect(dirs.add(root, '../gone', false)).rejects.toMatchObject({ code: 40409 });
    await dirs.add(root, '../a', false);
    // The parser of the configuration takes twenty seconds.
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  it('is not followed out of the project, for reading or writing', async () => {
    const { root, dirs, at, config } = await openProject();
    await writeFile(at('secret.toml'), listOf(at('a')));
    await mkdir(join(root, '.service-code'));
    await symlink(at('secret.toml'), config);
    const leadsOut = refused(`${config} leads out of the project`);
    for (const persist of [true, false]) await expect(dirs.add(root, at('b'), persist)).rejects.toMatchObject(leadsOut);
    expect(await dirs.of(root)).toEqual([]);
    expect(await readFile(at('secret.toml'), 'utf8')).toBe(listOf(at('a')));
    // Nor through a link of the folder to an empty one.
    await rm(join(root, '.service-code'), { recursive: true });
    await symlink(at('c'), join(root, '.service-code'));
    await expect(dirs.add(root, at('b'), true)).rejects.toMatchObject(leadsOut);
    // Nor through a dangling link.
    await rm(join(root, '.service-code'));
    await mkdir(join(root, '.service-code'));
    await symlink(at('c/new.toml'), config);
    await expect(dirs.add(root, at('b'), true)).rejects.toMatchObject(leadsOut);
    expect(await readdir(at('c'))).toEqual([]);
    // Nor through a circular link.
    await rm(config);
    await symlink(config, config);
    await expect(dirs.add(root, at('b'), true)).rejects.toMatchObject({ code: 50003 });
    expect(await dirs.of(root)).toEqual([]);
  });

  it('remains a link within the project, and keeps its mode', async () => {
    const { root, dirs, at, config } = await openProject();
    await mkdir(join(root, '.service-code'));
    await writeFile(join(root, 'shared.toml'), listOf(at('a')));
    await chmod(join(root, 'shared.toml'), 0o640);
    await symlink('../shared.toml', config);
    expect((await dirs.add(root, at('b'), true)).additional_dirs).toEqual([at('a'), at('b')]);
    expect((await stat(join(root, 'shared.toml'))).mode & 0o777).toBe(0o640);
    expect(await readFile(join(root, 'shared.toml'), 'utf8')).toContain(at('b'));
  });

  it('that is no regular file does not block', async () => {
    const { root, dirs, at, config } = await openProject();
    await mkdir(join(root, '.service-code'));
    execFileSync('mkfifo', [config]);
    await expect(dirs.add(root, at('a'), true)).rejects.toMatchObject(refused(`${config} is not a regular file`));
    expect(await dirs.of(root)).toEqual([]);
    await rm(config);
    await mkdir(config);
    await expect(dirs.add(root, at('a'), true)).rejects.toMatchObject(refused(`${config} is not a regular file`));
    expect(await dirs.of(root)).toEqual([]);
  });

  it('may list anything: no entry is in force until the directory is trusted', async () => {
    const { root, dirs, write, trusted, config } = await openProject();
    await write(listOf('/', '/', '/nowhere', '\u0000', '../project'));
    expect(await dirs.of(root)).toEqual([]);
    expect(await dirs.ignored(root)).toEqual([{ path: config, directory: root, reason: 'untrusted' }]);
    trusted.add(root);
    dirs.refresh();
    expect(await dirs.of(root)).toEqual(['/', root]);
    expect(await dirs.ignored(root)).toEqual([]);
  });

  it('applies to directories that the user has added here, and is not rewritten for them', async () => {
    const { root, dirs, open, at, write, text } = await openProject();
    await write(listOf(at('a'), at('b')));
    const before = await text();
    expect(await dirs.of(root)).toEqual([]);
    const listed = [at('a'), at('b')];
    expect((await dirs.add(root, at('b'), true)).additional_dirs).toEqual(listed);
    // Confirmed, not written again.
    expect(await text()).toBe(before);
    expect(await dirs.of(root)).toEqual([at('b')]);
    expect(await dirs.ignored(root)).toHaveLength(1);
    expect(await open().of(root)).toEqual([at('b')]);
  });

  it('cannot replace a directory that the user has added by a link', async () => {
    const { root, dirs, at, open } = await openProject();
    const inside = join(root, 'libs');
    await mkdir(inside);
    await dirs.add(root, 'libs', true);
    expect(await dirs.of(root)).toEqual([inside]);
    await rm(inside, { recursive: true });
    await symlink(at('a'), inside);
    expect(await open().of(root)).toEqual([]);
  });
});

describe('workspaces', () => {
  it('of one repository share its file, but not directories added until the exit', async () => {
    const { top, root, dirs, at } = await openProject();
    execFileSync('git', ['init', '-q', top]);
    await dirs.add(root, at('a'), true);
    await dirs.add(root, at('b'), false);
    expect(await dirs.of(root)).toEqual([at('a'), at('b')]);
    expect(await dirs.of(at('c'))).toEqual([at('a')]);
  });
});

describe('a directory that is in force without a request for it', () => {
  it('is reported when it was confirmed manually', async () => {
    const { root, dirs, at, write, confirmed, elsewhere } = await openProject();
    await write(listOf('../a', '../b'));
    expect(await dirs.of(root)).toEqual([]);
    await confirmed.add(root, at('b'));
    await eventually(async () => expect(await dirs.of(root)).toEqual([at('b')]));
    expect(elsewhere).toEqual([at('b')]);
  });

  it('is reported when it is added to the file of a trusted project, not when one is removed', async () => {
    const { root, dirs, at, write, trusted, elsewhere } = await openProject();
    trusted.add(root);
    await write(listOf('../a'));
    expect(await dirs.of(root)).toEqual([at('a')]);
    await write(listOf('../b'));
    await eventually(async () => expect(await dirs.of(root)).toEqual([at('b')]));
    expect(elsewhere).toEqual([at('b')]);
    await write('');
    await eventually(async () => expect(await dirs.of(root)).toEqual([]));
    expect(elsewhere).toEqual([at('b')]);
  });

  it('is not reported when it was added here, or with the trust of the project', async () => {
    const { root, dirs, at, write, trusted, elsewhere } = await openProject();
    await write(listOf('../a'));
    expect(await dirs.of(root)).toEqual([]);
    await dirs.add(root, at('b'), true);
    expect(await dirs.of(root)).toEqual([at('b')]);
    trusted.add(root);
    dirs.refresh();
    expect(await dirs.of(root)).toEqual([at('a'), at('b')]);
    expect(elsewhere).toEqual([]);
  });
});
