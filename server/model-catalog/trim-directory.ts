/**
 * Parses the document of the directory and reduces its entries to the members that are used. Runs in a worker thread
 * where there are any, because parsing some MiB blocks the event loop.
 */
import { isRecord, parseJson } from '#server/text/json.ts';
import type { DirectoryTexts } from './directory-messages.ts';

/** A larger entry is dropped: the main thread parses each one without a pause. */
const MAX_ENTRY_CHARS = 1024 * 1024;
/** The first models of an entry that are read; an import writes each to the configuration. */
const MAX_MODELS = 5000;
/** All entries, which are cached; later ones are dropped. */
const MAX_CHARS = 8 * 1024 * 1024;
/** Member of our snapshot that describes it; no entry. */
export const SNAPSHOT_MEMBER = '$snapshot';

/** The members to retain; true retains the whole value. */
interface Shape {
  [member: string]: true | Shape | [Shape];
}

const MODEL: Shape = {
  id: true,
  name: true,
  family: true,
  status: true,
  reasoning: true,
  tool_call: true,
  dynamically_loaded_tools: true,
  limit: { context: true, input: true, output: true },
  modalities: { input: true, output: true },
  reasoning_options: [{ type: true, values: true }],
  interleaved: { field: true },
  provider: { npm: true, api: true },
  cost: { input: true, output: true, cache_read: true, cache_write: true },
};
const ENTRY: Shape = { id: true, name: true, api: true, npm: true, type: true, env: true };

/** A value of another kind than its shape is retained, so that its reader finds it malformed. */
function pick(value: unknown, shape: Shape[string]): unknown {
  if (shape === true) return value;
  if (Array.isArray(shape)) return Array.isArray(value) ? value.map((item) => pick(item, shape[0])) : value;
  if (!isRecord(value)) return value;
  const picked: Record<string, unknown> = {};
  for (const [member, inner] of Object.entries(shape)) {
    if (Object.hasOwn(value, member)) picked[member] = pick(value[member], inner);
  }
  return picked;
}

function trimEntry(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  const models = Object.hasOwn(entry, 'models') ? entry.models : {};
  // A list, because the keys are not used.
  const list = isRecord(models) ? Object.values(models).slice(0, MAX_MODELS) : models;
  return Object.assign(Object(pick(entry, ENTRY)), {
    models: Array.isArray(list) ? list.map((model) => pick(model, MODEL)) : list,
  });
}

/** Throws for bytes that are not a JSON object, and for one that is nested too deeply. */
export function trimDirectory(bytes: Uint8Array): DirectoryTexts {
  const document = parseJson(new TextDecoder().decode(bytes));
  if (!isRecord(document)) throw new Error('the document is no JSON object');
  const entries: DirectoryTexts['entries'] = [];
  const dropped: string[] = [];
  let chars = 0;
  for (const [id, entry] of Object.entries(document)) {
    if (id === SNAPSHOT_MEMBER) continue;
    const text = JSON.stringify(trimEntry(entry));
    if (id === '__proto__' || text.length > MAX_ENTRY_CHARS || chars + text.length > MAX_CHARS) {
      dropped.push(id);
      continue;
    }
    chars += text.length;
    entries.push([id, text]);
  }
  return { entries, dropped };
}
