/** The built-in tools and their schemas as the model is told them. */
import { z } from 'zod';
import type { ToolSchema } from '#schema/engine.ts';
import { createBashTool } from './bash.ts';
import type { BashOptions } from './bash.ts';
import { editTool } from './edit.ts';
import { createGlobTool } from './glob.ts';
import { createGrepTool } from './grep.ts';
import { readTool } from './read.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

/** In the order in which the model is told of them. */
export function builtinTools(options: { bash?: BashOptions } = {}): Tool[] {
  return [readTool, writeTool, editTool, createBashTool(options.bash), createGrepTool(), createGlobTool()];
}

const schemas = new WeakMap<Tool, ToolSchema>();

function toolSchema(tool: Tool): ToolSchema {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(tool.parameters, {
    target: 'draft-2020-12',
    io: 'input',
    // zod bounds every integer by what a double can hold; that tells a model nothing.
    override({ jsonSchema }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return { name: tool.name, description: tool.description, parameters };
}

/** JSON Schemas (draft 2020-12) of the tools, in their order; each is built once. */
export function toolSchemas(tools: readonly Tool[]): ToolSchema[] {
  return tools.map((tool) => {
    const schema = schemas.get(tool) ?? toolSchema(tool);
    schemas.set(tool, schema);
    return schema;
  });
}
