/**
 * What a conversation has told of tools that can be loaded. Read from the conversation itself, so that whatever an undo,
 * a compaction or a copy leaves of it is what counts.
 */
import { z } from 'zod';
import type { ContextEntry } from '#server/journal/projections/context.ts';
import type { Stored } from '#server/journal/texts.ts';
import { LOADABLE_TOOLS } from '#server/models/request-history.ts';
import { parseArguments } from '#server/text/tool-arguments.ts';
import type { ContextMessage, ToolCall, ToolSchema } from '#schema/engine.ts';

export const SELECT_TOOLS = 'select_tools';

/** Kept in the origin of an announcement. */
export const disclosureSchema = z.object({ added: z.array(z.string()), removed: z.array(z.string()) });
export type Disclosure = z.output<typeof disclosureSchema>;

export const argumentsSchema = z.strictObject({
  names: z.array(z.string()).min(1).describe('Names of the tools, as they were announced.'),
});

export interface ToldTools {
  /** Those that the model knows it can load. */
  announced: ReadonlySet<string>;
  /** By name, as they were declared last. */
  loaded: ReadonlyMap<string, Stored<ToolSchema>>;
  /** Names that were asked for and not declared since. */
  asked: ReadonlySet<string>;
}

/** Goes through all entries, so it is asked only of agents that load tools. */
export function toldTools(entries: readonly Pick<ContextEntry, 'message'>[]): ToldTools {
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

/** A list that is too long for its line names nothing that could be loaded at once. */
function namesOf({ arguments: text }: Stored<ToolCall>): readonly string[] {
  if (typeof text !== 'string') return [];
  return argumentsSchema.safeParse(parseArguments(text)).data?.names ?? [];
}
