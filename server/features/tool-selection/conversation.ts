/**
 * Derives from a conversation which loadable tools were announced to the model and which schemas it has. The
 * conversation is the only source, so the result is correct after an undo, a compaction or a copy.
 */
import * as z from 'zod';
import type { ContextEntry } from '#server/journal/projections/context.ts';
import type { Stored } from '#server/journal/texts.ts';
import { LOADABLE_TOOLS } from '#server/models/request-history.ts';
import { parseArguments } from '#server/text/tool-arguments.ts';
import type { ContextMessage, ToolCall, ToolSchema } from '#schema/engine.ts';

export const SELECT_TOOLS = 'select_tools';

/** Stored in the origin of an announcement. */
export const disclosureSchema = z.object({ added: z.array(z.string()), removed: z.array(z.string()) });
export type Disclosure = z.output<typeof disclosureSchema>;

export const argumentsSchema = z.strictObject({
  names: z.array(z.string()).min(1).describe('Names of the tools, as they were announced.'),
});

export interface AnnouncedTools {
  /** Names of the tools that were announced as loadable. */
  announced: ReadonlySet<string>;
  /** The last declared schemas, by name. */
  loaded: ReadonlyMap<string, Stored<ToolSchema>>;
  /** Names that the model requested and that were not declared since. */
  asked: ReadonlySet<string>;
}

/** Reads all entries, so it is called only for agents that load tools. */
export function announcedTools(entries: readonly Pick<ContextEntry, 'message'>[]): AnnouncedTools {
  const announced = new Set<string>();
  const loaded = new Map<string, Stored<ToolSchema>>();
  const asked = new Set<string>();
  const calls = new Map<string, readonly string[]>();
  for (const { message } of entries) {
    const { added, removed } = disclosureOf(message);
    for (const name of added) announced.add(name);
    for (const name of removed) announced.delete(name);
    for (const call of message.toolCalls) {
      if (call.name === SELECT_TOOLS) calls.set(call.id, namesOf(call));
    }
    if (message.role === 'tool' && !message.isError) {
      for (const name of calls.get(message.toolCallId ?? '') ?? []) asked.add(name);
    }
    for (const tool of message.tools ?? []) {
      loaded.set(tool.name, tool);
      asked.delete(tool.name);
    }
  }
  return { announced, loaded, asked };
}

const NOTHING: Disclosure = { added: [], removed: [] };

function disclosureOf({ origin }: Pick<Stored<ContextMessage>, 'origin'>): Disclosure {
  if (origin?.kind !== 'injection' || origin.variant !== LOADABLE_TOOLS) return NOTHING;
  return disclosureSchema.safeParse(origin.disclosure).data ?? NOTHING;
}

/** Returns the requested names. Arguments that are stored as a blob are too long for a valid request. */
function namesOf({ arguments: text }: Stored<ToolCall>): readonly string[] {
  if (typeof text !== 'string') return [];
  return argumentsSchema.safeParse(parseArguments(text)).data?.names ?? [];
}
