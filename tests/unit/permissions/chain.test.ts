/** The chain itself: steps that features add, tools of an unknown class, missing rules. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import type { PermissionStep } from '#server/permissions/decision.ts';
import type { AddedStep } from '#server/permissions/policy.ts';
import { createRuleCache } from '#server/permissions/rules.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { ToolPermission } from '#server/tools/tool.ts';
import { openPolicy } from '#support/policy.ts';
import { createProject, kind, rule } from './decide.ts';
import type { Project } from './decide.ts';

let space: Project;
beforeAll(async () => (space = await createProject()));
afterAll(() => space.remove());

async function decide(
  steps: AddedStep[],
  call: { toolName?: string; permission?: ToolPermission; agentId?: string } = {},
  mode: PermissionMode = 'manual',
) {
  const { toolName = 'Thing', permission, agentId = 'main' } = call;
  const policy = openPolicy();
  return policy.decide(
    { toolName, agentId, permission, effects: 'none', subject: { match: 'literal' }, accesses: [] },
    { mode, rules: [rule('deny', 'Denied')], remembered: [], places: space.environment, steps },
  );
}

describe('added steps', () => {
  const answer =
    (reason: string, tool?: string): PermissionStep =>
    ({ toolName }) =>
      tool === undefined || toolName === tool ? { kind: 'deny', reason } : undefined;

  test('precede all others by default, and rules cannot waive them', async () => {
    const guard = [{ decide: answer('guard') }];
    expect(await decide(guard, { toolName: 'Denied' })).toEqual({ kind: 'deny', reason: 'guard' });
    expect(await decide(guard, {}, 'auto')).toEqual({ kind: 'deny', reason: 'guard' });
  });

  test('precede the step they name, in their order', async () => {
    const steps: AddedStep[] = [
      { before: 'yolo mode', decide: answer('second', 'Other') },
      { before: 'yolo mode', decide: answer('third') },
      { before: 'auto mode', decide: answer('first', 'Early') },
    ];
    expect((await decide(steps, { toolName: 'Early' }, 'auto')).reason).toBe('first');
    expect((await decide(steps, { toolName: 'Other' }, 'yolo')).reason).toBe('second');
    expect((await decide(steps, {}, 'yolo')).reason).toBe('third');
    expect((await decide(steps, {}, 'auto')).kind).toBe('approve');
    expect((await decide(steps, { toolName: 'Denied' }, 'yolo')).reason).toContain('rule Denied');
  });

  test('have access to agent and paths, and pass calls without a decision on to the next step', async () => {
    const side: AddedStep = {
      async decide({ agentId }, context) {
        if (agentId === 'main') return undefined;
        return { kind: 'deny', reason: `${agentId} ${(await context.files()).length}` };
      },
    };
    expect((await decide([side], { permission: 'free' })).kind).toBe('approve');
    expect((await decide([side], { permission: 'free', agentId: 'agent-1' })).reason).toBe('agent-1 0');
  });
});

test('a question to people is asked in every mode but auto, regardless of allow rules; deny rules precede it', async () => {
  const policy = openPolicy();
  const asks = async (mode: PermissionMode, rules: ReturnType<typeof rule>[] | undefined, toolName = 'Thing') => {
    const tool = { toolName, permission: 'free' as const, effects: 'none' as const };
    const call = { ...tool, agentId: 'main', subject: { match: 'literal' as const } };
    const situation = { mode, rules, remembered: [{ rule: 'Thing' }], places: space.environment };
    return policy.decide({ ...call, accesses: [], review: true }, situation);
  };
  const rules = [rule('deny', 'Denied'), rule('allow', 'Thing')];
  expect((await asks('manual', rules)).kind).toBe('ask');
  expect((await asks('yolo', rules)).kind).toBe('ask');
  expect(await asks('yolo', rules)).not.toHaveProperty('rule');
  expect((await asks('auto', rules)).kind).toBe('approve');
  // Every mode acts as manual until rules are loaded.
  expect((await asks('auto', undefined)).kind).toBe('ask');
  for (const mode of ['manual', 'yolo', 'auto'] as const) expect((await asks(mode, rules, 'Denied')).kind).toBe('deny');
});

test('a tool needs approval unless its class permits it', async () => {
  const kinds = async (permission?: ToolPermission) => (await decide([], permission ? { permission } : {})).kind;
  expect(await kinds('free')).toBe('approve');
  expect(await kinds('ask')).toBe('ask');
  expect(await kinds()).toBe('ask');
  // A class of a newer tool.
  expect(await kinds('other' as ToolPermission)).toBe('ask');
});

test('a command line is parsed by the first rule that needs it, not earlier', async () => {
  const lines: string[] = [];
  const reader = createCommandLineReader();
  const policy = openPolicy({
    reader: {
      read(line) {
        lines.push(line);
        return reader.read(line);
      },
    },
  });
  const call = (text: string) => ({
    toolName: 'Bash',
    agentId: 'main',
    permission: 'ask' as const,
    effects: 'any' as const,
    subject: { text, match: 'command' as const },
    accesses: [],
  });
  const places = space.environment;
  for (const mode of ['manual', 'auto', 'yolo'] as const) {
    for (const rules of [[], [rule('allow', 'Read'), rule('deny', 'Write(x)')], [rule('allow', 'Bash')]]) {
      await policy.decide(call('ls | wc'), { mode, rules, remembered: [], places });
    }
  }
  expect(lines).toEqual([]);
  await policy.decide(call('ls | wc'), {
    mode: 'manual',
    rules: [rule('allow', 'Bash(ls *)')],
    remembered: [],
    places,
  });
  expect(lines).toEqual(['ls | wc']);
});

describe('without loaded rules', () => {
  test.each<PermissionMode>(['manual', 'auto', 'yolo'])('%s acts as manual', async (mode) => {
    const setup = { mode, rules: 'unknown' as const };
    expect(await kind(space.bash('ls', setup))).toBe('ask');
    expect(await kind(space.file('Write', 'src/new.ts', setup))).toBe('approve');
    expect(await kind(space.file('Write', '/elsewhere', setup))).toBe('ask');
    expect(await kind(space.bare('AskUserQuestion', setup))).toBe('approve');
  });

  test('remembered rules remain valid', async () => {
    const remembered = [{ rule: 'Bash(ls)', dir: space.environment.cwd }];
    expect(await kind(space.bash('ls', { rules: 'unknown', remembered }))).toBe('approve');
  });
});

test('rules are compiled a single time for a configuration and a directory', () => {
  const compiled = createRuleCache();
  const at = (cwd: string) => ({ ...space.environment, cwd });
  const rules = [rule('allow', 'Read(src/**)')];
  expect(compiled(rules, at('/a'))).toBe(compiled(rules, at('/a')));
  expect(compiled(rules, at('/b'))).not.toBe(compiled(rules, at('/a')));
  expect(compiled([...rules], at('/a'))).not.toBe(compiled(rules, at('/a')));
});

test('a configured command rule applies in the workspace, its bare form everywhere', async () => {
  const rules = [rule('allow', 'Bash(make)')];
  const more = { additionalDirs: async () => [space.outside] };
  expect(await kind(space.bash('make', { rules }))).toBe('approve');
  expect(await kind(space.bash('make', { rules, directory: space.path('src') }))).toBe('approve');
  for (const directory of [space.outside, space.path('link'), '/']) {
    expect(await kind(space.bash('make', { rules, directory }))).toBe('ask');
    expect(await kind(space.bash('make', { rules: [rule('allow', 'Bash')], directory }))).toBe('approve');
    expect(await kind(space.bash('make', { rules: [rule('allow', '*')], directory }))).toBe('approve');
  }
  expect(await kind(space.bash('make', { rules, directory: space.outside, places: more }))).toBe('approve');
  expect(await kind(space.bash('make', { rules, directory: space.path('link'), places: more }))).toBe('approve');
});
