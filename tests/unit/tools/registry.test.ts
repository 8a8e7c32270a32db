import Ajv2020 from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parseArguments } from '#server/agent/calls/arguments.ts';
import { editTool } from '#server/tools/edit.ts';
import { createGlobTool } from '#server/tools/glob.ts';
import { readTool } from '#server/tools/read.ts';
import { builtinTools, toolSchemas } from '#server/tools/registry.ts';
import type { Tool } from '#server/tools/tool.ts';

const tools = builtinTools();
const checked = (tool: Tool, text: string | null) => tool.check(parseArguments(text));

test('the order is fixed, so that prompt caches hold', () => {
  expect(tools.map(({ name }) => name)).toEqual(['Read', 'Write', 'Edit', 'Bash', 'Grep', 'Glob']);
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

test('the schema a model sees agrees with what is accepted', () => {
  const [schema] = toolSchemas([readTool]);
  const matches = new Ajv2020({ strict: false }).compile(schema?.parameters ?? {});
  for (const line_offset of [1, 1000, -1, -1000, 0, -1001, 1.5]) {
    const args = { path: 'x', line_offset };
    expect('args' in readTool.check(args)).toBe(matches(args));
  }
});

test('arguments: empty, malformed, several errors at once', () => {
  expect(checked(createGlobTool(), '{"pattern":"*","other":1}')).toMatchObject({ args: { pattern: '*' } });
  for (const text of [null, '', '  ', '{"path": "x"', 'null ', '[]']) {
    expect(checked(readTool, text)).toHaveProperty('problem');
  }
  expect(checked(readTool, '{"path"')).toEqual(checked(readTool, '{}'));
  expect(checked(editTool, '{"path":1,"old_string":""}')).toEqual({
    problem: expect.stringMatching(/^path: .+; old_string: .+; new_string: .+$/),
  });
});
