import { expect, test } from 'vitest';
import { activeTools } from '#server/permissions/active-tools.ts';

const names = ['Read', 'Write', 'Bash', 'mcp__docs__get', 'mcp__docs__list', 'mcp__web__get'];
const everything = { tools: ['Read', 'Write', 'Bash', 'mcp__*'] };
const active = (layers: Parameters<typeof activeTools>[1]) => [...activeTools(names, layers).active];

test('every layer must allow a tool', () => {
  expect(active({ profile: everything })).toEqual(names);
  expect(active({ profile: { tools: ['Read', 'Bash'] } })).toEqual(['Read', 'Bash']);
  expect(active({ profile: { ...everything, disallowedTools: ['Bash', 'mcp__web__*'] } })).toEqual([
    'Read',
    'Write',
    'mcp__docs__get',
    'mcp__docs__list',
  ]);
  expect(
    active({ profile: everything, vetoed: ['Write'], config: { disabled: ['mcp__*'] }, sessionDisabled: ['Bash'] }),
  ).toEqual(['Read']);
});

test('the profile `*` has every tool', () => {
  expect(activeTools(names, { profile: { tools: '*' } })).toEqual({ active: new Set(names), ineffective: [] });
  expect(active({ profile: { tools: '*', disallowedTools: ['Bash'] }, config: { enabled: ['Bash', 'Read'] } })).toEqual(
    ['Read'],
  );
});

test('enabled is an allowlist unless it is empty; disabled is subtracted from it', () => {
  expect(active({ profile: everything, config: { enabled: [] } })).toEqual(names);
  expect(
    active({ profile: everything, config: { enabled: ['Read', 'mcp__*__get'], disabled: ['mcp__web__get'] } }),
  ).toEqual(['Read', 'mcp__docs__get']);
});

test('non-MCP names match exactly, MCP names only by mcp__ patterns', () => {
  expect(active({ profile: { tools: ['*', 'R*', 'read'] } })).toEqual([]);
  expect(active({ profile: everything, sessionDisabled: ['*', 'B*', '*docs*'] })).toEqual(names);
});

test('patterns without a match are reported a single time', () => {
  const { ineffective } = activeTools(names, {
    profile: { tools: ['Read', 'Gone'] },
    config: { enabled: ['Read', 'B*'], disabled: ['mcp__x__*', 'mcp__[z-a]'] },
    sessionDisabled: ['B*', 'Bash'],
  });
  expect(ineffective).toEqual(['B*', 'mcp__x__*', 'mcp__[z-a]']);
});
