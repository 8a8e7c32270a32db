/** The `[permission]` section: accepted and refused patches, and the rules that remain in force if it is invalid. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { callThenText, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World, type WorldOptions } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

const allow = (pattern: string) => ({ decision: 'allow', scope: 'user', pattern });
const deny = (pattern: string) => ({ decision: 'deny', scope: 'user', pattern });
const ask = (pattern: string) => ({ decision: 'ask', scope: 'user', pattern });

describe('a patch', () => {
  let server: TestServer | undefined;
  afterEach(async () => {
    await server?.close();
    if (server) await rm(server.home, { recursive: true, force: true });
    server = undefined;
  });

  async function start(file = '') {
    const home = await temporaryDirectory();
    await writeFile(join(home, 'config.toml'), file);
    const started = (server = await startServer({ home, env: () => ({}) }));
    return {
      started,
      patch: (permission: unknown) => started.api('POST', '/config', { permission }),
      async rules() {
        const { data } = await started.api('GET', '/config');
        const { permission } = data as { permission?: { rules?: unknown[] } };
        return permission?.rules;
      },
      file: () => readFile(join(home, 'config.toml'), 'utf8'),
    };
  }

  test('accepts all forms of the shorthands', async () => {
    const { patch, rules } = await start();
    const answer = await patch({
      ask: [{ pattern: 'Write(**/*.lock)', reason: 'locks' }],
      deny: [{ tool: 'Bash', match: 'rm -rf *' }, { tool: 'Bash', pattern: 'curl *' }, { tool: 'WebSearch' }],
      allow: [{ tool: 'mcp__docs__*' }],
    });
    expect(answer.code).toBe(0);
    expect(await rules()).toEqual([
      deny('Bash(rm -rf *)'),
      deny('Bash(curl *)'),
      deny('WebSearch'),
      allow('mcp__docs__*'),
      { ...ask('Write(**/*.lock)'), reason: 'locks' },
    ]);
  });

  test('`rules` replaces, the others are merged into it, existing rules are not added again', async () => {
    const { patch, rules, file } = await start('[permission]\nodd = 1\ndeny = [{ tool = "Bash", match = "rm *" }]\n');
    await patch({ allow: [{ pattern: 'Read' }] });
    expect(await rules()).toEqual([deny('Bash(rm *)'), allow('Read')]);
    const written = await file();
    expect(written).toContain('odd = 1');
    expect(written).not.toMatch(/^deny/m);
    for (const again of [{ allow: [{ tool: 'Read' }] }, { deny: [{ tool: 'Bash', match: 'rm *' }] }, {}]) {
      expect((await patch(again)).code).toBe(0);
      expect(await file()).toBe(written);
    }
    await patch({ rules: [allow('Glob')], ask: [{ pattern: 'Glob' }, { pattern: 'Glob' }] });
    expect(await rules()).toEqual([allow('Glob'), ask('Glob')]);
    await patch({ rules: [] });
    expect(await rules()).toEqual([]);
  });

  test('null removes a list from the file, or all rules', async () => {
    const text = '[permission]\nrules = [{ decision = "ask", pattern = "Read" }]\nallow = [{ tool = "Bash" }]\n';
    const { patch, rules, started } = await start(text);
    await patch({ allow: null });
    expect(await rules()).toEqual([ask('Read')]);
    await patch({ rules: null, deny: [{ tool: 'Bash' }] });
    expect(await rules()).toEqual([deny('Bash')]);
    await patch({ rules: null });
    expect(await rules()).toBeUndefined();
    await patch({ deny: [{ tool: 'Bash' }] });
    await started.api('POST', '/config', { permission: null });
    expect(await rules()).toBeUndefined();
  });

  test.each<[string, unknown, string]>([
    ['a list that is none', { denny: [{ tool: 'Bash' }] }, 'permission.denny'],
    ['a member of the section', { mode: 'yolo' }, 'permission.mode'],
    ['a member of a rule', { rules: [{ ...allow('Read'), when: 'always' }] }, 'permission.rules.0.when'],
    ['a misspelt match', { allow: [{ tool: 'Bash', mtach: 'git *' }] }, 'permission.allow.0.mtach'],
    ['a match without a tool', { deny: [{ match: 'rm *' }] }, 'permission.deny.0.match'],
    ['match and pattern', { deny: [{ tool: 'Bash', match: 'a', pattern: 'b' }] }, 'permission.deny.0.pattern'],
    ['another decision', { allow: [{ decision: 'deny', pattern: 'Read' }] }, 'permission.allow.0.decision'],
    ['an unknown decision', { rules: [{ decision: 'maybe', pattern: 'Read' }] }, 'permission.rules.0.decision'],
    ['no decision', { rules: [{ pattern: 'Read' }] }, 'permission.rules.0.decision'],
    ['no pattern', { ask: [{ reason: 'x' }] }, 'permission.ask.0.pattern'],
    ['a broken pattern', { deny: [{ pattern: 'Read' }, { pattern: 'Read([z-a])' }] }, 'permission.deny.1.pattern'],
    ['an unknown scope', { allow: [{ pattern: 'Read', scope: 'world' }] }, 'permission.allow.0.scope'],
    ['no list', { deny: 'Bash' }, 'permission.deny'],
    ['no rule', { deny: ['Bash'] }, 'permission.deny.0'],
    ['null for a rule', { rules: [null] }, 'permission.rules.0'],
  ])('is refused for %s, and changes no rule', async (_what, permission, path) => {
    const before = '[permission]\nrules = [{ decision = "deny", pattern = "Bash(rm *)" }]\n';
    const { patch, file } = await start(before);
    const answer = await patch(permission);
    expect(answer).toMatchObject({ code: 40001, details: [{ path }] });
    expect(answer.msg).toContain(path);
    expect(await file()).toBe(before);
  });

  test('reports every problem in one reply', async () => {
    const { patch } = await start();
    const { details } = await patch({ denny: [], deny: [{ tool: 'Bash', mtach: 'x' }, { pattern: '(' }] });
    expect(details).toMatchObject([
      { path: 'permission.denny' },
      { path: 'permission.deny.0.mtach' },
      { path: 'permission.deny.1.pattern' },
    ]);
  });
});

describe('an invalid section', () => {
  let world: World;
  afterEach(() => world.close());

  const rules = { deny: [{ tool: 'Bash', match: 'rm *' }] };
  const start = async (options: WorldOptions = {}) => {
    world = await startWorld({ config: { default_permission_mode: 'yolo', permission: rules }, ...options });
    return join(world.server.home, 'config.toml');
  };

  /** Returns `denied`, `asked` (and rejected) or `ran`. */
  async function fate(talk: Talk, command: string) {
    const before = talk.all('event.approval.requested').length;
    const ended = talk.turn('go', callThenText('Bash', { command }));
    const request = talk.nth('event.approval.requested', before + 1);
    request.catch(() => undefined);
    const asked = await Promise.race([ended.then(() => undefined), request]);
    if (asked) await talk.answer(String(asked.payload.approval_id), { decision: 'rejected' });
    const { results } = await ended;
    if (asked) return 'asked';
    return /denied by the permission rules/.test(results[0]?.output ?? '') ? 'denied' : 'ran';
  }

  test('leaves the last valid rules in force; clients receive a warning, and its end after the repair', async () => {
    const file = await start();
    const good = await readFile(file, 'utf8');
    const client = await connect(world.server);
    const talk = await startTalk(world);
    expect(await fate(talk, 'rm x')).toBe('denied');
    await writeFile(file, good.replace('rm *', 'rm * [z-a]'));
    const { payload } = await client.waitFor(({ type }) => type === 'event.config.warning');
    expect(payload.warnings).toEqual([
      {
        domain: 'permission',
        message: expect.stringMatching(/^permission\.rules\.0\.pattern: .*; the last good rules stay in force$/),
      },
    ]);
    expect(await fate(talk, 'rm x')).toBe('denied');
    expect(await fate(talk, 'echo x')).toBe('ran');
    expect((await world.api('GET', '/config')).data).toMatchObject({ permission: { rules: [deny('Bash(rm *)')] } });

    // A write of another section preserves them, too.
    expect((await world.api('POST', '/config', { telemetry: false })).code).toBe(0);
    expect(await fate(talk, 'rm x')).toBe('denied');
    await writeFile(file, good.replace('rm *', 'echo *'));
    await client.waitFor(
      ({ type, payload: now }) =>
        type === 'event.config.warning' && Array.isArray(now.warnings) && now.warnings.length === 0,
    );
    expect(await fate(talk, 'echo x')).toBe('denied');
    expect(client.durable('__global__').some(({ type }) => type === 'event.config.warning')).toBe(true);
    await client.close();
  });

  test('at the start there are no rules: every mode acts as manual until the repair', async () => {
    const broken = { deny: [{ tool: 'Bash', match: '[z-a]' }] };
    const file = await start({ config: { default_permission_mode: 'yolo', permission: broken } });
    const warnings: unknown[] = [];
    world.server.app.config.onWarnings((now) => warnings.push(now));
    expect(warnings).toEqual([
      [{ domain: 'permission', message: expect.stringContaining('every permission mode acts as manual') }],
    ]);
    const talk = await startTalk(world);
    expect(await fate(talk, 'echo x')).toBe('asked');
    await talk.turn('hi', [{ text: 'hi' }], { permission_mode: 'auto' });
    expect(await fate(talk, 'echo x')).toBe('asked');
    const client = await connect(world.server);
    await writeFile(file, (await readFile(file, 'utf8')).replace('[z-a]', 'rm *'));
    await client.waitFor(({ type }) => type === 'event.config.warning');
    expect(await fate(talk, 'echo x')).toBe('ran');
    expect(await fate(talk, 'rm x')).toBe('denied');
    await client.close();
  });

  test('a file with a syntax error leaves the rules in force', async () => {
    const file = await start();
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    await writeFile(file, '[permission\n');
    await world.server.app.config.reload();
    expect(await fate(talk, 'rm x')).toBe('denied');
  });

  test('a misspelt member causes a warning', async () => {
    await start({ config: { permission: { denny: [], allow: [{ tool: 'Bash', mtach: 'git *' }] } } });
    const warnings: unknown[] = [];
    world.server.app.config.onWarnings((now) => warnings.push(...now));
    expect(warnings).toEqual([
      { domain: 'permission', message: 'permission.denny is not known and has no effect' },
      { domain: 'permission', message: 'permission.allow.0.mtach is not known and has no effect' },
    ]);
  });
});
