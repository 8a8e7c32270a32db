/** `GET /api/v2/sessions` over a real server: parameters, items, pages, tokens and loaded sessions. */
import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { workspaceIdOf } from '#server/workspaces/workspace-root.ts';
import { eventually } from '#support/patience.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { startTalk } from '#support/talk.ts';
import { startWorld } from '#support/world.ts';
import { writeSession } from '../unit/sessions/index/index-fixtures.ts';

const START = Date.UTC(2026, 0, 1);
const ROOT = '/projects/one';
const OTHER_ROOT = '/projects/two';
const WORKSPACE = workspaceIdOf(ROOT);
const OTHER = workspaceIdOf(OTHER_ROOT);
/** A workspace id that older data used for the same root; the smallest of its set. */
const ALIAS = 'wd_a_00000000000a';
const at = (second: number) => START + second * 1000;

const item = z.looseObject({
  id: z.string(),
  workspace: z.object({ id: z.string(), cwd: z.string().nullable() }),
  meta: z.looseObject({ updated_at: z.number() }),
  activity: z.object({ status: z.string(), model: z.string().nullable() }),
});
const end = { total: z.number(), has_more: z.boolean(), next_page_token: z.string().nullable() };
const flatPage = z.object({ items: z.array(item), ...end });
const projectedPage = z.object({ items: z.array(z.strictObject({ id: z.string(), archived: z.boolean() })), ...end });
const groupedPage = z.object({
  groups: z.array(
    z.object({ workspace: z.unknown(), sessions: z.array(z.looseObject({ id: z.string() })), total: z.number() }),
  ),
  ...end,
});

let server: TestServer;
let home: string;
beforeAll(async () => {
  home = await temporaryDirectory();
  const write = (id: string, second: number, more = {}, workspaceId = WORKSPACE) =>
    writeSession(home, id, { createdAt: START + 1000 - second * 100, updatedAt: at(second), ...more }, { workspaceId });
  // Newest first: e, then b, c and d of the same time, then a. `z` is archived between them.
  await write('session_a', 1, { lastPrompt: 'Hi' });
  await write('session_b', 2);
  await write('session_c', 2, {}, ALIAS);
  await write('session_d', 2, { cwd: OTHER_ROOT, lastPrompt: 'Ho' }, OTHER);
  await write('session_e', 3, { lastTurnReason: 'failed', title: 'E' });
  await write('session_z', 2.5, { archived: true, archivedAt: at(9) });
  server = await startServer({ home });
});
afterAll(async () => {
  await server.close();
  await rm(home, { recursive: true, force: true });
});

const get = (query: string) => server.api('GET', `/api/v2/sessions${query}`);
const flat = async (query: string) => flatPage.parse((await get(query)).data);
const letter = ({ id }: { id: string }) => id.slice(-1);

/** The last letters of the ids and the total, and `+` if there are more. */
async function letters(query: string): Promise<string> {
  const { items, total, has_more } = await flat(query);
  return `${items.map(letter).join('')}${has_more ? '+' : ''} ${total}`;
}

/** The letters of each group with its total, and the number of groups. */
async function groups(query: string): Promise<string> {
  const page = groupedPage.parse((await get(`?view=by_workspace${query}`)).data);
  const texts = page.groups.map(({ sessions, total }) => `${sessions.map(letter).join('')}/${total}`);
  return `${texts.join(' ')}${page.has_more ? '+' : ''} ${page.total}`;
}

describe('query', () => {
  it.each([
    ['', 'ebcda 5'],
    ['?workspace.id=' + WORKSPACE, 'ebca 4'],
    ['?workspace.id=' + ALIAS, 'ebca 4'],
    [`?workspace.id=${OTHER}&workspace.id=${ALIAS}`, 'ebcda 5'],
    [`?workspace.id=${OTHER}&workspace.id=unknown`, 'd 1'],
    ['?workspace.id=unknown', ' 0'],
    // Commas are not split.
    [`?workspace.id=${OTHER},${ALIAS}`, ' 0'],
    ['?activity.status=failed', 'e 1'],
    ['?activity.status=idle', 'bcda 4'],
    ['?activity.status=idle&activity.status=failed', 'ebcda 5'],
    ['?activity.status=running&activity.status=approval&activity.status=question', ' 0'],
    // Both bounds are inclusive.
    [`?meta.updated_after=${at(2)}`, 'ebcd 4'],
    [`?meta.updated_before=${at(2)}`, 'bcda 4'],
    [`?meta.updated_after=${at(2)}&meta.updated_before=${at(2)}`, 'bcd 3'],
    [`?meta.updated_after=${at(2) + 1}&meta.updated_before=${at(3) - 1}&meta.archived=all`, 'z 1'],
    [`?meta.updated_after=${at(2)}&activity.status=idle`, 'bcd 3'],
    ['?meta.updated_before=', ' 0'],
    ['?meta.updated_after=9007199254740991', ' 0'],
    ['?meta.archived=true', 'z 1'],
    ['?meta.archived=false', 'ebcda 5'],
    ['?meta.archived=all', 'ezbcda 6'],
    ['?meta.has_prompt=true', 'da 2'],
    ['?meta.has_prompt=false', 'ebc 3'],
    ['?view=flat', 'ebcda 5'],
    ['?sort=meta.updated_at_desc', 'ebcda 5'],
    ['?sort=meta.updated_at_asc', 'adcbe 5'],
    ['?sort=meta.created_at_desc', 'abcde 5'],
    [`?sort=meta.created_at_desc&meta.updated_after=${at(2)}&meta.archived=all`, 'bcdze 5'],
    ['?sort=meta.updated_at_asc&meta.archived=all', 'adcbze 6'],
    ['?include=', 'ebcda 5'],
    ['?include=%20,,', 'ebcda 5'],
    ['?fields=', 'ebcda 5'],
    ['?page_size=2', 'eb+ 5'],
    ['?page_size=5', 'ebcda 5'],
    ['?page_size=2&page=3', 'a 5'],
    ['?page_size=2&page=4', ' 5'],
    ['?page_size=2&page=9007199254740991', ' 5'],
    ['?unknown=1', 'ebcda 5'],
  ])('%s returns %s', async (query, expected) => {
    expect(await letters(query)).toBe(expected);
  });

  const enumeration = /^Invalid option: /;
  it.each<[string, string, string | RegExp]>([
    ['?workspace.id=', 'workspace.id.0', 'Too small: expected string to have >=1 characters'],
    ['?activity.status=idle,failed', 'activity.status.0', enumeration],
    ['?meta.updated_after=-1', 'meta.updated_after', 'Too small: expected number to be >=0'],
    ['?meta.updated_after=1.5', 'meta.updated_after', 'Invalid input: expected int, received number'],
    ['?meta.updated_before=9007199254740992', 'meta.updated_before', /expected/],
    ['?meta.updated_before=1&meta.updated_before=2', 'meta.updated_before', /received NaN$/],
    ['?meta.archived=1', 'meta.archived', enumeration],
    ['?meta.has_prompt=1', 'meta.has_prompt', enumeration],
    ['?meta.has_prompt=all', 'meta.has_prompt', enumeration],
    ['?view=tree', 'view', enumeration],
    ['?view=flat&view=flat', 'view', /./],
    ['?sort=updated_at', 'sort', enumeration],
    ['?include=git,x', 'include', "unknown domain 'x'"],
    ['?include=git&include=git', 'include', 'Invalid input: expected string, received array'],
    ['?fields=id,title', 'fields', "unknown field 'title'"],
    ['?fields=id', 'fields', "only 'id,archived' is supported"],
    ['?fields=archived,archived', 'fields', "only 'id,archived' is supported"],
    ['?page_size=0', 'page_size', 'Too small: expected number to be >=1'],
    ['?page_size=', 'page_size', 'Too small: expected number to be >=1'],
    ['?page_size=10001&fields=id,archived', 'page_size', 'Too big: expected number to be <=10000'],
    ['?page=0', 'page', 'Too small: expected number to be >=1'],
    ['?page_token=', 'page_token', 'Too small: expected string to have >=1 characters'],
    ['?group.page_size=0&view=by_workspace', 'group.page_size', 'Too small: expected number to be >=1'],
    // Between parameters, only if each is valid.
    ['?page=1&page_token=x', 'page', 'page and page_token are mutually exclusive'],
    ['?fields=id,archived&include=git', 'fields', 'fields and include=git are mutually exclusive'],
    ['?page_size=101', 'page_size', 'more than 100 needs fields=id,archived'],
    ['?group.page_size=5', 'group.page_size', 'group.page_size needs view=by_workspace'],
    ['?group.page_size=101&view=by_workspace', 'group.page_size', 'more than 100 needs fields=id,archived'],
  ])('%s is refused', async (query, path, message) => {
    const answer = await get(query);
    const text = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(answer).toMatchObject({ code: 40001, details: [{ path, message: text }] });
  });

  it('reports all parameters that are invalid, and conflicts only if there are none', async () => {
    const paths = async (query: string) => {
      const { details } = await get(query);
      return z
        .array(z.looseObject({ path: z.string() }))
        .parse(details)
        .map(({ path }) => path);
    };
    expect(await paths('?page=0&page_token=x&view=tree&fields=id,archived&include=git')).toEqual(['view', 'page']);
    expect(await paths('?page=1&page_token=x&page_size=101&group.page_size=5&include=git')).toEqual([
      'page',
      'page_size',
      'group.page_size',
    ]);
  });

  it('checks the conditions before the token', async () => {
    expect(await get('?page_token=x&page_size=0')).toMatchObject({ code: 40001 });
    expect(await get('?page_token=x')).toMatchObject({ code: 40922 });
  });
});

describe('items', () => {
  it('have all members, null where there is no value', async () => {
    const { items } = flatPage.extend({ items: z.array(z.unknown()) }).parse((await get('?meta.archived=all')).data);
    expect(items[0]).toEqual({
      id: 'session_e',
      workspace: { id: WORKSPACE, cwd: ROOT },
      meta: {
        title: 'E',
        last_prompt: null,
        created_at: START + 700,
        updated_at: at(3),
        archived: false,
        archived_at: null,
      },
      activity: { status: 'failed', model: null },
    });
    expect(items[1]).toMatchObject({ id: 'session_z', meta: { title: null, archived: true, archived_at: at(9) } });
    expect(items[3]).toMatchObject({ id: 'session_c', workspace: { id: ALIAS, cwd: ROOT } });
    expect(items[5]).toMatchObject({ meta: { last_prompt: 'Hi' } });
  });

  it.each(['?fields=id,archived', '?fields=archived,%20id,,id'])('%s has only id and archived', async (query) => {
    const { items, total } = projectedPage.parse((await get(`${query}&meta.archived=all&page_size=10000`)).data);
    expect(items.map(({ id, archived }) => [letter({ id }), archived])).toEqual(
      [...'ezbcda'].map((one) => [one, one === 'z']),
    );
    expect(total).toBe(6);
  });
});

describe('pages', () => {
  const sorts = ['meta.updated_at_desc', 'meta.updated_at_asc', 'meta.created_at_desc'];
  it.each(sorts.flatMap((sort) => [1, 2, 4].map((size) => [sort, size] as const)))(
    '%s in pages of %d are the whole list',
    async (sort, size) => {
      const query = `?sort=${sort}&meta.archived=all&page_size=${size}`;
      const whole = await letters(`?sort=${sort}&meta.archived=all`);
      let seen = '';
      for (let token: string | null = ''; token !== null;) {
        const page: z.infer<typeof flatPage> = await flat(`${query}${token && `&page_token=${token}`}`);
        seen += page.items.map(letter).join('');
        expect(page).toMatchObject({ total: 6, has_more: seen.length < 6 });
        expect(page.next_page_token === null).toBe(!page.has_more);
        token = page.next_page_token;
      }
      expect(`${seen} 6`).toBe(whole);
      // Numbered pages have no token.
      let numbered = '';
      for (let page = 1; page <= Math.ceil(6 / size); page++) {
        const { items, next_page_token, has_more } = await flat(`${query}&page=${page}`);
        numbered += items.map(letter).join('');
        expect(next_page_token).toBeNull();
        expect(has_more).toBe(numbered.length < 6);
      }
      expect(numbered).toBe(seen);
    },
  );

  const tokenOf = async (query: string) => (await flat(query)).next_page_token ?? '';

  it('bind the token to the conditions', async () => {
    const base = `?page_size=1&workspace.id=${WORKSPACE}&workspace.id=${OTHER}&activity.status=idle&activity.status=failed`;
    const token = await tokenOf(base);
    const equal = [
      `?activity.status=failed&activity.status=idle&workspace.id=${OTHER}&workspace.id=${WORKSPACE}&page_size=1`,
      `${base}&meta.archived=false&view=flat&sort=meta.updated_at_desc&include=&fields=`,
    ];
    for (const query of equal) expect(await letters(`${query}&page_token=${token}`)).toBe('b+ 5');
    const other = [
      '?page_size=1',
      base.replace('page_size=1', 'page_size=2'),
      base.replace('&activity.status=failed', ''),
      base.replace(`&workspace.id=${OTHER}`, ''),
      `${base}&meta.updated_after=0`,
      `${base}&meta.updated_before=9007199254740991`,
      `${base}&meta.archived=all`,
      `${base}&meta.has_prompt=false`,
      `${base}&view=by_workspace`,
      `${base}&sort=meta.updated_at_asc`,
      `${base}&include=git`,
      `${base}&fields=id,archived`,
    ];
    for (const query of other) {
      expect(await get(`${query}&page_token=${token}`)).toMatchObject({
        code: 40922,
        msg: expect.stringMatching(/^page_token does not match the query conditions; /),
        data: null,
      });
    }
  });

  it('refuse a token of another group size', async () => {
    const query = '?view=by_workspace&page_size=1';
    const { next_page_token: token } = groupedPage.parse((await get(query)).data);
    expect(await get(`${query}&group.page_size=5&page_token=${token}`)).toMatchObject({ code: 0 });
    expect(await get(`${query}&group.page_size=6&page_token=${token}`)).toMatchObject({ code: 40922 });
  });

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  it.each([
    ['!', 'is corrupted'],
    ['abc', 'is corrupted'],
    [encoded({ v: 2, f: 'x', k: [1, 'a'] }), 'is malformed or from an incompatible version'],
    [encoded({ v: 1, f: 'x', k: ['a', 1] }), 'is malformed or from an incompatible version'],
    [encoded(null), 'is malformed or from an incompatible version'],
    [encoded({ v: 1, f: 'x', k: [1, 'a'] }), 'does not match the query conditions'],
  ])('refuse the token %s', async (token, reason) => {
    const answer = await get(`?page_token=${encodeURIComponent(token)}`);
    expect(answer).toMatchObject({ code: 40922, msg: expect.stringMatching(`^page_token ${reason}; `), data: null });
    expect(answer.details).toBeUndefined();
  });

  it('start after a session that was removed', async () => {
    const token = await tokenOf('?page_size=2');
    const { f } = z.looseObject({ f: z.string() }).parse(JSON.parse(Buffer.from(token, 'base64url').toString()));
    expect(f).toHaveLength(16);
    const after = encoded({ v: 1, f, k: [at(2), 'session_bb'] });
    expect(await letters(`?page_size=2&page_token=${after}`)).toBe('cd+ 5');
  });
});

describe('groups', () => {
  it.each([
    ['', 'ebca/4 d/1 2'],
    ['&group.page_size=2', 'eb/4 d/1 2'],
    ['&group.page_size=1&sort=meta.updated_at_asc', 'a/4 d/1 2'],
    ['&sort=meta.created_at_desc', 'abce/4 d/1 2'],
    ['&meta.archived=true', 'z/1 1'],
    ['&meta.has_prompt=true', 'd/1 a/1 2'],
    ['&activity.status=failed', 'e/1 1'],
    ['&activity.status=running', ' 0'],
    ['&workspace.id=' + OTHER, 'd/1 1'],
    [`&meta.updated_before=${at(2)}&meta.updated_after=${at(2)}&meta.archived=all`, 'bc/2 d/1 2'],
    ['&page_size=1', 'ebca/4+ 2'],
    ['&page_size=1&page=2', 'd/1 2'],
    ['&page_size=1&page=3', ' 2'],
  ])('%s returns %s', async (query, expected) => {
    expect(await groups(query)).toBe(expected);
  });

  it('have the smallest id of the alias set, and the items their stored ones', async () => {
    const { data } = await get('?view=by_workspace&page_size=1');
    expect(data).not.toHaveProperty('items');
    expect(data).toMatchObject({
      groups: [
        {
          workspace: { id: ALIAS, cwd: ROOT },
          sessions: [WORKSPACE, WORKSPACE, ALIAS, WORKSPACE].map((id) => ({ workspace: { id, cwd: ROOT } })),
          total: 4,
        },
      ],
      total: 2,
      has_more: true,
    });
  });

  it('follow each other by token, ties by workspace id in every sort', async () => {
    const bounds = `&meta.updated_after=${at(2)}&meta.updated_before=${at(2)}&page_size=1`;
    for (const sort of ['meta.updated_at_desc', 'meta.updated_at_asc']) {
      const query = `?view=by_workspace&sort=${sort}${bounds}`;
      const first = groupedPage.parse((await get(query)).data);
      const second = groupedPage.parse((await get(`${query}&page_token=${first.next_page_token}`)).data);
      expect([first, second].map((page) => page.groups.map(({ workspace }) => workspace))).toMatchObject([
        [{ id: ALIAS }],
        [{ id: OTHER }],
      ]);
      expect(second.next_page_token).toBeNull();
      const token: unknown = JSON.parse(Buffer.from(first.next_page_token ?? '', 'base64url').toString());
      expect(token).toMatchObject({ v: 1, k: [at(2), ALIAS] });
    }
  });

  it('have projected sessions', async () => {
    const { data } = await get('?view=by_workspace&fields=id,archived&group.page_size=10000&page_size=10000');
    expect(data).toMatchObject({
      groups: [
        { sessions: [...'ebca'].map((one) => ({ id: `session_${one}`, archived: false })), total: 4 },
        { workspace: { id: OTHER, cwd: OTHER_ROOT }, sessions: [{ id: 'session_d' }], total: 1 },
      ],
    });
  });
});

it('sessions of a workspace that was removed are still found by its id', async () => {
  const root = await temporaryDirectory();
  const id = workspaceIdOf(root);
  const own = await temporaryDirectory();
  await writeSession(own, 'session_x', { cwd: root, updatedAt: at(1) }, { workspaceId: id });
  const other = await startServer({ home: own });
  try {
    expect((await other.api('DELETE', `/workspaces/${id}`)).code).toBe(0);
    for (const query of [`?workspace.id=${id}`, `?workspace.id=${id}&activity.status=idle`]) {
      const { items, total } = flatPage.parse((await other.api('GET', `/api/v2/sessions${query}`)).data);
      expect([items.map(letter), total]).toEqual([['x'], 1]);
    }
    expect((await other.api('GET', `/sessions?workspace_id=${id}`)).code).toBe(40410);
  } finally {
    await other.close();
    for (const folder of [own, root]) await rm(folder, { recursive: true, force: true });
  }
});

describe('include=git', () => {
  const git = z.object({ branch: z.string().nullable(), pull_request: z.null() });
  const withGit = flatPage.extend({ items: z.array(z.looseObject({ id: z.string(), git })) });

  it('adds facts to each item, null where there is no repository', async () => {
    expect(withGit.parse((await get('?include=git')).data).items.map((one) => one.git)).toEqual(
      Array.from({ length: 5 }, () => ({ branch: null, pull_request: null })),
    );
    const grouped = groupedPage.parse((await get('?include=git&view=by_workspace')).data);
    expect(grouped.groups.flatMap(({ sessions }) => sessions)).toMatchObject(
      Array.from({ length: 5 }, () => ({ git: { branch: null } })),
    );
    for (const one of (await flat('')).items) expect(one).not.toHaveProperty('git');
  });

  it('has the branch of the directory', async () => {
    const world = await startWorld();
    try {
      await world.session();
      execFileSync('git', ['-C', world.project, 'symbolic-ref', 'HEAD', 'refs/heads/feature/x']);
      // On a busy machine the facts may arrive after the reply.
      await eventually(async () => {
        const { items } = withGit.parse((await world.api('GET', '/api/v2/sessions?include=git')).data);
        expect(items[0]?.git.branch).toBe('feature/x');
      });
    } finally {
      await world.close();
    }
  });
});

describe('a loaded session', () => {
  it('has its present status and model, and counts where they select it', async () => {
    const world = await startWorld({ config: { default_permission_mode: 'manual' } });
    try {
      const list = async (query = '') => {
        const { data } = await world.server.api('GET', `/api/v2/sessions${query}`);
        const { items, total } = flatPage.parse(data);
        return { status: items.map(({ activity }) => activity.status), total };
      };
      const status = async (wanted: string) => (await list(`?activity.status=${wanted}`)).total;
      const talk = await startTalk(world);
      const [created] = flatPage.parse((await world.server.api('GET', '/api/v2/sessions')).data).items;
      expect(created?.activity).toEqual({ status: 'idle', model: null });

      world.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'true' } }] });
      await talk.prompt('Run it');
      await talk.events.waitFor(({ type }) => type === 'event.approval.requested');
      expect(await list()).toEqual({ status: ['approval'], total: 1 });
      expect([await status('approval'), await status('running'), await status('idle')]).toEqual([1, 0, 0]);
      const [waiting] = flatPage.parse((await world.server.api('GET', '/api/v2/sessions')).data).items;
      expect(waiting?.activity.model).toEqual(expect.any(String));
      await world.ok('POST', `${talk.path}:abort`);
      await talk.nth('turn.ended', 1);

      world.model.enqueue({ hang: true });
      await talk.prompt('Wait');
      await talk.nth('turn.started', 2);
      expect(await list()).toEqual({ status: ['running'], total: 1 });
      expect([await status('running'), await status('idle')]).toEqual([1, 0]);
    } finally {
      await world.close();
    }
  });
});
