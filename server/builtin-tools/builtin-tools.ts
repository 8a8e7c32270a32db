/** The built-in tools, and schemas as models receive them. */
import type { ToolSchema } from '#schema/engine.ts';
import { bashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { createGlobTool } from './glob.ts';
import { createGrepTool } from './grep.ts';
import { readTool } from './read.ts';
import type { Tool } from '#server/tools/tool.ts';
import { writeTool } from './write.ts';

/** In the order in which models receive them. */
export function builtinTools(): Tool[] {
  return [readTool, writeTool, editTool, bashTool, createGrepTool(), createGlobTool()];
}

/** Schemas of the tools as models receive them, in this order. */
export const toolSchemas = (tools: readonly Tool[]): ToolSchema[] =>
  tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
