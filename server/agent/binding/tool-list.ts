/** A list of tools as it is sent to models. */
import { createHash } from 'node:crypto';
import type { Tool } from '#server/tools/tool.ts';
import type { ToolList } from '../contract/tools.ts';

const MAX_KNOWN = 16;
/** LRU cache, newest last: sessions create tools with equal texts and share the list and what is derived from it. */
const known: ToolList[] = [];

const readsAs = (list: ToolList, of: readonly Tool[]): boolean =>
  list.tools.length === of.length &&
  list.tools.every(({ name, description, parameters }, place) => {
    const tool = of[place];
    return name === tool?.name && parameters === tool.parameters && description === tool.description;
  });

/** The list of these tools; the same object for tools with equal texts while it is cached. */
export function toolListOf(of: readonly Tool[]): ToolList {
  const place = known.findLastIndex((list) => readsAs(list, of));
  const list = known.splice(place, place === -1 ? 0 : 1)[0] ?? newList(of);
  known.push(list);
  if (known.length > MAX_KNOWN) known.shift();
  return list;
}

function newList(of: readonly Tool[]): ToolList {
  const tools = of.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const text = JSON.stringify(tools);
  return { tools, text, sha256: createHash('sha256').update(text).digest('hex') };
}
