/** The built-in tools and their schemas as the model is told them. */
import type { ToolSchema } from '#schema/engine.ts';
import { bashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { createGlobTool } from './glob.ts';
import { createGrepTool } from './grep.ts';
import { readTool } from './read.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

/** In the order in which the model is told of them. */
export function builtinTools(): Tool[] {
  return [readTool, writeTool, editTool, bashTool, createGrepTool(), createGlobTool()];
}

/** As models are told them, in their order. */
export const toolSchemas = (tools: readonly Tool[]): ToolSchema[] =>
  tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
