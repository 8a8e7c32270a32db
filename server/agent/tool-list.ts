/** The tools of an agent as models are told them. */
import { createHash } from 'node:crypto';
import type { Tool } from '#server/tools/tool.ts';
import type { ToolSchema } from '#schema/engine.ts';

export interface ToolList {
  tools: ToolSchema[];
  /** Of the list's JSON. */
  sha256: string;
}

/** Asked at every step: schemas and hash are made anew only when the tools are other objects than the last time. */
export function createToolList(): (tools: readonly Tool[]) => ToolList {
  let last: { of: readonly Tool[]; list: ToolList } | undefined;
  return (of) => {
    if (last && last.of.length === of.length && last.of.every((tool, place) => tool === of[place])) return last.list;
    const tools = of.map(({ name, description, parameters }) => ({ name, description, parameters }));
    const list = { tools, sha256: createHash('sha256').update(JSON.stringify(tools)).digest('hex') };
    last = { of, list };
    return list;
  };
}
