/**
 * Parses the document of the directory and reduces its entries to the members that are used. Runs in a worker thread
 * where there are any, because parsing some MiB blocks the event loop.
 */
import { finish, finishWithPauses, type Steps } from '#server/async/steps.ts';
import { isRecord, parseJson } from '#server/text/json.ts';
import type { DirectoryTexts } from './directory-messages.ts';

/** A larger entry is dropped: the main thread parses each one without a pause. */
const MAX_ENTRY_CHARS = 1024 * 1024;
/** The first models of an entry that are read; an import writes each to the configuration. */
const MAX_MODELS = 5000;
/** All entries with their keys, which are cached; later ones are dropped. */
const MAX_CHARS = 8 * 1024 * 1024;
/** Member of our snapshot that describes it; no entry. */
export const SNAPSHOT_MEMBER = '$snapshot';

/** The members to retain; true retains the whole value, a list has one shape for all items. */
type Shape = true | [Shape] | Map<string, Shape>;

const members = (...names: string[]) => new Map<string, Shape>(names.map((name) => [name, true]));

const MODEL: Shape = new Map<string, Shape>([
  ...members('id', 'name', 'family', 'status', 'reasoning', 'tool_call', 'dynamically_loaded_tools'),
  ['limit', members('context', 'input', 'output')],
  ['modalities', members('input', 'output')],
  ['reasoning_options', [members('type', 'values')]],
  ['interleaved', members('field')],
  ['provider', members('npm', 'api')],
  ['cost', members('input', 'output', 'cache_read', 'cache_write')],
]);
const ENTRY: Shape = members('id', 'name', 'api', 'npm', 'type', 'env');

/** A value of another kind than its shape is retained, so that its reader finds it malformed. */
function pick(value: unknown, shape: Shape): unknown {
  if (shape === true) return value;
  if (Array.isArray(shape)) return Array.isArray(value) ? value.map((item) => pick(item, shape[0])) : value;
  if (!isRecord(value)) return value;
  const picked: Record<string, unknown> = {};
  for (const [member, inner] of shape) {
    if (Object.hasOwn(value, member)) picked[member] = pick(value[member], inner);
  }
  return picked;
}

function trimEntry(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  const models = Object.hasOwn(entry, 'models') ? entry.models : {};
  return {
    ...Object(pick(entry, ENTRY)),
    // A list, because the keys are not used.
    models: isRecord(models)
      ? Object.values(models)
          .slice(0, MAX_MODELS)
          .map((model) => pick(model, MODEL))
      : null,
  };
}

/** Parses a document. Throws for bytes that are not a JSON object, and for one that is nested too deeply. */
function* trimEntries(bytes: Uint8Array): Steps<DirectoryTexts> {
  const document = parseJson(new TextDecoder().decode(bytes));
  if (!isRecord(document)) throw new Error('the document is no JSON object');
  const entries: DirectoryTexts['entries'] = [];
  const dropped: string[] = [];
  let chars = 0;
  for (const [id, entry] of Object.entries(document)) {
    yield;
    if (id === SNAPSHOT_MEMBER) continue;
    const text = JSON.stringify(trimEntry(entry));
    const size = id.length + text.length;
    if (id === '__proto__' || size > MAX_ENTRY_CHARS || chars + size > MAX_CHARS) {
      dropped.push(id);
      continue;
    }
    chars += size;
    entries.push([id, text]);
  }
  return { entries, dropped };
}

/** Parses a document without pause, in a thread. Throws as `trimEntries`. */
export const trimDirectory = (bytes: Uint8Array): DirectoryTexts => finish(trimEntries(bytes));

/** Parses a document in place, with pauses between its entries. Throws as `trimEntries`. */
export const trimWithPauses = (bytes: Uint8Array): Promise<DirectoryTexts> => finishWithPauses(trimEntries(bytes));
