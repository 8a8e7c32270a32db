/** The permission boundary over the API: attempts of a hostile model, with a real server, shell and project. */
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approvalBefore } from '#support/call-fate.ts';
import { fileExists } from '#support/files.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { call, callThenText, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

/** Runs a call. Returns whether it ran, was denied, or needed approval, which is answered with `answer`. */
async function fate(
  talk: Talk,
  [tool, args]: readonly [string, unknown],
  answer: Record<string, unknown> = { decision: 'rejected' },
  mode = 'manual',
): Promise<'asked' | 'denied' | 'failed' | 'ran'> {
  const before = talk.all('event.approval.requested').length;
  const turn = talk.turn('go', callThenText(tool, args), { permission_mode: mode });
  const request = await approvalBefore(turn, talk.nth('event.approval.requested', before + 1));
  if (request) await talk.answer(String(request.payload.approval_id), answer);
  const { results } = await turn;
  if (request) return 'asked';
  if (/denied by the permission rules/.test(results[0]?.output ?? '')) return 'denied';
  return results[0]?.isError ? 'failed' : 'ran';
}
const bash = (command: string, more: Record<string, unknown> = {}) => ['Bash', { command, ...more }] as const;
const session = { decision: 'approved', scope: 'session' };

describe('configured rules', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      config: {
        permission: {
          deny: ['rm *', 'git push*'].map((match) => ({ tool: 'Bash', match })),
          allow: [
            { tool: 'Bash', match: 'echo *' },
            { tool: 'Bash', match: 'printf *' },
            { tool: 'Bash', match: 'touch *' },
            { tool: 'Bash', match: './start.sh*' },
          ],
        },
      },
    });
  });
  afterAll(() => world.close());

  test('an allowed command runs no other one', async () => {
    const talk = await startTalk(world);
    const lines = [
      `echo '\\044(echo x > pwned)'; echo \${_@P}`,
      `printf -v x 'a[\\x24(echo x > pwned)]'; echo \${!x}`,
      'echo $(echo x > pwned)',
      'echo a\n\\cp a.txt pwned',
      'echo ==\ncp a.txt pwned',
      'cd / && echo x',
    ];
    for (const line of lines) expect([line, await fate(talk, bash(line))]).toEqual([line, 'asked']);
    expect(await fileExists(join(world.project, 'pwned'))).toBe(false);
    expect(await fate(talk, bash('echo a && echo b 2>&1; pwd'))).toBe('ran');
  });

  test('variables before a command must not be evaluated by its script', async () => {
    const script = 'echo "$((PORT + 1)) $((COLUMNS - 2)) $((LINES)) $LANG"\n';
    await writeFile(join(world.project, 'start.sh'), `#!/bin/bash\n${script}`, { mode: 0o755 });
    const talk = await startTalk(world);
    for (const name of ['PORT', 'COLUMNS', 'LINES']) {
      for (const value of [`'a[$(touch pwned)]'`, `"a[\\$(touch pwned)]"`, "'`touch pwned`'", 'LANG']) {
        const line = `${name}=${value} ./start.sh`;
        expect([line, await fate(talk, bash(line))]).toEqual([line, 'asked']);
      }
    }
    expect(await fileExists(join(world.project, 'pwned'))).toBe(false);
    const { results } = await talk.turn(
      'go',
      callThenText('Bash', { command: "PORT=3000 COLUMNS='80' LANG='C.UTF-8' ./start.sh" }),
    );
    expect(results).toMatchObject([{ output: '3001 78 0 C.UTF-8\n', isError: false }]);
  });

  test('a denied command is found after wrappers', async () => {
    const talk = await startTalk(world);
    const plain = ['/bin/rm x', 'sudo rm x', 'env X=1 rm x', 'bash -c "rm x"', 'timeout 5 rm x', 'echo "$(rm x)"'];
    const more = [
      'env - rm x',
      'flock a.txt rm x',
      "su -c 'rm x'",
      'trap "rm x" EXIT',
      'bash <<< "rm x"',
      'sh <<E\nrm x\nE',
    ];
    const lines = [...plain, ...more, 'git -C . push', "git -c alias.x='!rm x' x"];
    for (const line of lines) {
      for (const mode of ['auto', 'yolo'])
        expect([line, await fate(talk, bash(line), {}, mode)]).toEqual([line, 'denied']);
    }
  });

  test('an unreadable line needs approval, and is denied in auto', async () => {
    const talk = await startTalk(world);
    for (const line of ['X=rm; $X a.txt', 'echo rm a.txt | sh', '. <(echo rm a.txt)']) {
      expect([line, await fate(talk, bash(line), { decision: 'rejected' }, 'yolo')]).toEqual([line, 'asked']);
    }
    for (const line of ['echo a | cat', 'trap - EXIT', 'echo a | bash start.sh']) {
      expect([line, await fate(talk, bash(line), {}, 'yolo')]).not.toEqual([line, 'asked']);
    }
    const { results } = await talk.turn('go', callThenText('Bash', { command: 'X=rm; $X a.txt' }), {
      permission_mode: 'auto',
    });
    expect(results[0]).toMatchObject({ isError: true, output: expect.stringContaining('could not be read') });
    expect(await fileExists(join(world.project, 'a.txt'))).toBe(true);
  });

  test('an allow rule applies only in the workspace', async () => {
    const other = join(dirname(world.project), 'other');
    await mkdir(other);
    await mkdir(join(world.project, 'sub'), { recursive: true });
    const talk = await startTalk(world);
    expect(await fate(talk, bash('touch here'))).toBe('ran');
    expect(await fate(talk, bash('touch here', { cwd: 'sub' }))).toBe('ran');
    expect(await fate(talk, bash('cd sub && touch there'))).toBe('ran');
    expect(await fileExists(join(world.project, 'sub/there'))).toBe(true);
    await symlink(other, join(world.project, 'way-out'));
    for (const cwd of [other, join(world.project, 'way-out'), '/']) {
      expect(await fate(talk, bash('touch pwned', { cwd }))).toBe('asked');
      expect(await fate(talk, bash(`cd ${cwd} && touch pwned`))).toBe('asked');
    }
    expect(await fileExists(join(other, 'pwned'))).toBe(false);
  });
});

describe('a `cd` at the start', () => {
  let world: World;
  let other: string;
  beforeAll(async () => {
    const allow = ['touch *', 'mv *', 'ln *'].map((match) => ({ tool: 'Bash', match }));
    world = await startWorld({ config: { permission: { allow } } });
    other = join(dirname(world.project), 'other');
    await mkdir(join(other, 'deep'), { recursive: true });
    await mkdir(join(other, 'target'));
  });
  afterAll(() => world.close());

  test('does not leave the workspace by the `..` of a link', async () => {
    await symlink(join(other, 'deep'), join(world.project, 'far'));
    const talk = await startTalk(world);
    expect(await fate(talk, bash('cd far/../target && touch pwned'))).toBe('asked');
    expect(await fileExists(join(other, 'target/pwned'))).toBe(false);
  });

  test('does not leave it when an earlier call of the response replaces its directory by a link', async () => {
    await mkdir(join(world.project, 'sub'));
    const talk = await startTalk(world);
    const calls = [`mv sub old && ln -s ${other} sub`, 'cd sub && touch pwned'].map((command) =>
      call('Bash', { command }),
    );
    const { results } = await talk.turn('go', [{ calls }, { text: 'Done.' }]);
    expect(results).toMatchObject([
      { isError: false },
      { isError: true, output: expect.stringContaining('leads to another place') },
    ]);
    expect(await fileExists(join(other, 'pwned'))).toBe(false);
  });

  test('does not leave it when its directory is replaced by a link while the approval is pending', async () => {
    await mkdir(join(world.project, 'later'));
    const talk = await startTalk(world);
    const turn = talk.turn('go', callThenText('Bash', { command: 'cd later && touch a && echo asked' }));
    const { approval_id } = await talk.approval();
    await rm(join(world.project, 'later'), { recursive: true });
    await symlink(other, join(world.project, 'later'));
    await talk.answer(approval_id, session);
    expect((await turn).results).toMatchObject([{ isError: true }]);
    expect(await fileExists(join(other, 'a'))).toBe(false);
    expect(await fate(talk, bash('cd later && touch a && echo asked'))).toBe('asked');
  });
});

describe('remembered approvals', () => {
  let world: World;
  let other: string;
  beforeAll(async () => {
    world = await startWorld();
    other = join(dirname(world.project), 'other');
    await mkdir(other);
    await writeFile(join(other, 'b.txt'), 'hello\n');
  });
  afterAll(() => world.close());

  test('a command is valid for its directory, which the journal stores', async () => {
    const talk = await startTalk(world);
    expect(await fate(talk, bash('echo x > made'), session)).toBe('asked');
    expect(await fate(talk, bash('echo x > made'))).toBe('ran');
    expect(await fate(talk, bash('echo x > made', { cwd: other }))).toBe('asked');
    expect(await fileExists(join(other, 'made'))).toBe(false);
    const { id, workspace_id } = talk.session;
    const file = join(sessionFolder(world.server.home, { workspace_id, id }), 'journal.ndjson');
    expect(await readFile(file, 'utf8')).toContain(
      `"x":{"rule":"Bash(echo x > made)","dir":${JSON.stringify(world.project)},"by":`,
    );
  });

  test('a search outside is valid for its path, regardless of the pattern', async () => {
    const talk = await startTalk(world);
    expect(await fate(talk, ['Grep', { pattern: 'hello', path: other }], session)).toBe('asked');
    expect(await fate(talk, ['Grep', { pattern: 'other', path: other }])).toBe('ran');
    expect(await fate(talk, ['Grep', { pattern: 'hello', path: dirname(other) }])).toBe('asked');
    expect(await fate(talk, ['Glob', { pattern: '*', path: other }])).toBe('asked');
  });

  test('a path is valid for its target', async () => {
    const talk = await startTalk(world);
    const link = join(world.project, 'pointer');
    await symlink(join(other, 'b.txt'), link);
    expect(await fate(talk, ['Read', { path: link }], session)).toBe('asked');
    expect(await fate(talk, ['Read', { path: link }])).toBe('ran');
    await rm(link);
    await symlink('/etc/hostname', link);
    expect(await fate(talk, ['Read', { path: link }])).toBe('asked');
  });
});

describe("the server's own files", () => {
  let world: World;
  let home: string;
  /** A session in the folder that contains home and project, under git: its workspace contains both. */
  let talk: Talk;
  beforeAll(async () => {
    world = await startWorld();
    ({ home } = world.server);
    const root = dirname(world.project);
    await mkdir(join(root, '.git'));
    await writeFile(join(root, '.git/HEAD'), 'ref: refs/heads/x\n');
    await mkdir(join(home, 'credentials'), { recursive: true });
    await writeFile(join(home, 'credentials/x.json'), '{"access_token":"secret-token"}');
    talk = await startTalk(world, { metadata: { cwd: root } });
  });
  afterAll(() => world.close());

  test.each(['manual', 'auto', 'yolo'])('%s: token, credentials and other sessions are refused', async (mode) => {
    const stranger = await world.session();
    const paths = [
      'home/server.token',
      'home/credentials/x.json',
      `home/sessions/${stranger.workspace_id}/${stranger.id}/journal.ndjson`,
    ];
    for (const path of paths) {
      expect([path, await fate(talk, ['Read', { path }], {}, mode)]).toEqual([path, 'failed']);
      expect([path, await fate(talk, ['Write', { path, content: 'x' }], {}, mode)]).toEqual([path, 'failed']);
    }
    expect(await readFile(join(home, 'server.token'), 'utf8')).toBe(world.server.token);
    const { results } = await talk.turn(
      'go',
      callThenText('Grep', { pattern: '.', path: 'home', output_mode: 'content' }),
      {
        permission_mode: mode,
      },
    );
    expect(results[0]?.output).not.toMatch(/secret-token|api_key/);
    expect(results[0]?.output).not.toContain(world.server.token);
  });

  test.each([
    ['manual', 'asked'],
    ['yolo', 'asked'],
    ['auto', 'denied'],
  ])('%s: the configuration is not rewritten without approval', async (mode, expected) => {
    const before = await readFile(join(home, 'config.toml'), 'utf8');
    for (const path of ['home/config.toml', 'home/AGENTS.md', 'home/mcp.json']) {
      const append = ['Write', { path, content: 'yolo = true\n', mode: 'append' }] as const;
      if (path === 'home/config.toml') await fate(talk, ['Read', { path }], { decision: 'approved' }, mode);
      expect([path, await fate(talk, append, { decision: 'rejected' }, mode)]).toEqual([path, expected]);
    }
    expect(await readFile(join(home, 'config.toml'), 'utf8')).toBe(before);
    expect(await fileExists(join(home, 'AGENTS.md'))).toBe(false);
  });

  test.each([
    ['manual', 'asked'],
    ['yolo', 'asked'],
    ['auto', 'denied'],
  ])('%s: a session does not write next to its journal without approval', async (mode, expected) => {
    const { id, workspace_id } = talk.session;
    const folder = `home/sessions/${workspace_id}/${id}`;
    for (const name of ['lock.9', 'blobs/x', 'journal.ndjson.new']) {
      const write = ['Write', { path: `${folder}/${name}`, content: '{}', mode: 'append' }] as const;
      expect([name, await fate(talk, write, { decision: 'rejected' }, mode)]).toEqual([name, expected]);
    }
  });

  test('reading the configuration needs approval', async () => {
    for (const mode of ['manual', 'yolo']) {
      expect(await fate(talk, ['Read', { path: 'home/config.toml' }], { decision: 'rejected' }, mode)).toBe('asked');
    }
  });

  test('settings in a project are not written without approval', async () => {
    for (const path of ['project/.service-code/local.toml', '.mcp.json']) {
      for (const mode of ['manual', 'yolo']) {
        expect(await fate(talk, ['Write', { path, content: 'x' }], { decision: 'rejected' }, mode)).toBe('asked');
      }
    }
  });
});

test('secrets of a project are neither read nor found, similar files are', async () => {
  const world = await startWorld();
  try {
    const key = '-----BEGIN PRIVATE KEY-----\nneedle\n-----END PRIVATE KEY-----\n';
    const secrets = {
      'key.pem': key,
      'notes.txt': key,
      id_dsa: 'needle',
      '.netrc': 'needle',
      '.npmrc': 'needle',
      '.git-credentials': 'needle',
      '.envrc': 'needle',
      '.kube/config': 'needle',
      '.ssh/mykey': 'needle',
      'credentials.json': '"needle"',
    };
    const others = {
      'cert.pem': key.replaceAll('PRIVATE KEY', 'CERTIFICATE'),
      '.npmrc.example': 'needle',
      'id_rsa.pub': 'needle',
      '.ssh/config': 'needle',
    };
    for (const [name, text] of Object.entries({ ...secrets, ...others })) {
      await mkdir(dirname(join(world.project, name)), { recursive: true });
      await writeFile(join(world.project, name), text);
    }
    const talk = await startTalk(world);
    for (const path of Object.keys(secrets))
      expect([path, await fate(talk, ['Read', { path }])]).toEqual([path, 'failed']);
    for (const path of Object.keys(others)) expect([path, await fate(talk, ['Read', { path }])]).toEqual([path, 'ran']);
    const { results } = await talk.turn('go', callThenText('Grep', { pattern: 'needle' }));
    expect(results[0]?.output.split('\n').toSorted()).toEqual(
      [...Object.keys(others), `[Matches in ${Object.keys(secrets).length} sensitive files are not shown.]`].toSorted(),
    );
  } finally {
    await world.close();
  }
});

test('commands receive no secret of the server', async () => {
  const world = await startWorld({ config: { default_permission_mode: 'yolo' } });
  process.env.SERVICE_CODE_PASSWORD = 'pass-word';
  process.env.SERVICE_WEB_SEARCH_API_KEY = 'search-key';
  process.env.OTHER_VARIABLE = 'handed on';
  try {
    const talk = await startTalk(world);
    const { results } = await talk.turn('go', callThenText('Bash', { command: 'env' }));
    expect(results[0]?.output).toContain('OTHER_VARIABLE=handed on');
    expect(results[0]?.output).not.toMatch(/pass-word|search-key/);
  } finally {
    delete process.env.SERVICE_CODE_PASSWORD;
    delete process.env.SERVICE_WEB_SEARCH_API_KEY;
    delete process.env.OTHER_VARIABLE;
    await world.close();
  }
});
