import Ajv2020 from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parseArguments } from '#server/text/tool-arguments.ts';
import { editTool } from '#server/builtin-tools/edit.ts';
import { createGlobTool } from '#server/builtin-tools/glob.ts';
import { readTool } from '#server/builtin-tools/read.ts';
import { builtinTools, toolSchemas } from '#server/builtin-tools/builtin-tools.ts';
import type { Tool, ToolPermission } from '#server/tools/tool.ts';

const tools = builtinTools();
const checked = (tool: Tool, text: string | null) => tool.check(parseArguments(text));

test('the order is fixed, for prompt caches', () => {
  expect(tools.map(({ name }) => name)).toEqual(['Read', 'Write', 'Edit', 'Bash', 'Grep', 'Glob']);
});

test('each declares what it may change', () => {
  expect(Object.fromEntries(tools.map(({ name, effects }) => [name, effects]))).toEqual({
    Read: 'none',
    Write: 'workspace',
    Edit: 'workspace',
    Bash: 'any',
    Grep: 'none',
    Glob: 'none',
  });
});

test('schemas are valid draft 2020-12, describe every parameter and are built once', () => {
  const schemas = toolSchemas(tools);
  for (const { parameters } of schemas) {
    expect(() => new Ajv2020({ strict: false }).compile(parameters)).not.toThrow();
    expect(parameters).toMatchObject({ type: 'object' });
    expect(parameters).not.toHaveProperty('$schema');
    const { properties } = parameters;
    for (const property of Object.values(properties ?? {})) expect(property).toHaveProperty('description');
  }
  expect(toolSchemas(tools)[0]?.parameters).toBe(schemas[0]?.parameters);
  expect(JSON.stringify(schemas)).not.toContain(String(Number.MAX_SAFE_INTEGER));
});

test('the schema that a model receives agrees with the accepted arguments', () => {
  const [schema] = toolSchemas([readTool]);
  const matches = new Ajv2020({ strict: false }).compile(schema?.parameters ?? {});
  for (const line_offset of [1, 1000, -1, -1000, 0, -1001, 1.5]) {
    const args = { path: 'x', line_offset };
    expect('args' in readTool.check(args)).toBe(matches(args));
  }
});

test('arguments: empty, malformed, several errors in one reply', () => {
  expect(checked(createGlobTool(), '{"pattern":"*","other":1}')).toMatchObject({ args: { pattern: '*' } });
  for (const text of [null, '', '  ', '{"path": "x"', 'null ', '[]']) {
    expect(checked(readTool, text)).toHaveProperty('problem');
  }
  expect(checked(readTool, '{"path"')).toEqual(checked(readTool, '{}'));
  expect(checked(editTool, '{"path":1,"old_string":""}')).toEqual({
    problem: expect.stringMatching(/^path: .+; old_string: .+; new_string: .+$/),
  });
});

test.each<[string, ToolPermission, [object, RegExp][]]>([
  [
    'Read',
    'read',
    [
      [{}, /^path: /],
      [{ path: 'x', line_offset: 0 }, /^line_offset: /],
      [{ path: 'x', n_lines: 0 }, /^n_lines: /],
    ],
  ],
  [
    'Write',
    'write',
    [
      [{}, /^path: .*; content: /],
      [{ path: 'x', content: '', mode: 'insert' }, /^mode: /],
    ],
  ],
  [
    'Edit',
    'write',
    [
      [{ path: 'x', new_string: '' }, /^old_string: /],
      [{ path: 'x', old_string: '', new_string: 'x' }, /^old_string: /],
      [{ path: 'x', old_string: 'x', new_string: 'y', replace_all: 1 }, /^replace_all: /],
    ],
  ],
  [
    'Bash',
    'ask',
    [
      [{ command: '' }, /^command: /],
      [{ command: 'x', timeout: 301 }, /^timeout: /],
      [{ command: 'x', timeout: 0.5 }, /^timeout: /],
      [{ command: 'x', description: 'X', run_in_background: true, timeout: 86_401 }, /^timeout: /],
      [{ command: 'x', disable_timeout: true }, /^disable_timeout: needs run_in_background/],
      [{ command: 'x', run_in_background: true }, /^description: /],
    ],
  ],
  [
    'Grep',
    'read',
    [
      [{}, /^pattern: /],
      [{ pattern: 'x', output_mode: 'lines' }, /^output_mode: /],
      [{ pattern: 'x', '-A': -1 }, /^-A: /],
      [{ pattern: 'x', head_limit: -1, offset: -1 }, /^head_limit: .*; offset: /],
    ],
  ],
  ['Glob', 'read', [[{}, /^pattern: /]]],
])('%s needs a "%s" permission, and says what is wrong with its arguments', (name, permission, refused) => {
  const tool = tools.find((one) => one.name === name) ?? expect.unreachable(name);
  expect(tool.permission).toBe(permission);
  for (const [args, problem] of refused) expect(tool.check(args)).toEqual({ problem: expect.stringMatching(problem) });
});
