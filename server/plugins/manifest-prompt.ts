/** The text that a plugin adds to system prompts. */
import { errorCode } from '#server/errors/errno.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { readRegular } from '#server/files/read-regular.ts';
import type { Report } from './diagnostics.ts';
import { admitInside, insidePath, type PluginRoot } from './paths-inside.ts';

/** Limit of each of the two texts. */
const MAX_BYTES = 32 * 1024;

/** Joins `systemPrompt` and the file of `systemPromptPath`; invalid ones are dropped with a warning. */
export async function readSystemPrompt(
  { systemPrompt, systemPromptPath }: Record<string, unknown>,
  root: PluginRoot,
  report: Report,
): Promise<string | undefined> {
  const texts = [literal(systemPrompt, report), await fromFile(systemPromptPath, root, report)];
  return texts.filter(Boolean).join('\n\n') || undefined;
}

function literal(value: unknown, report: Report): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') report('warn', '"systemPrompt" must be a text');
  else if (Buffer.byteLength(value) > MAX_BYTES) report('warn', `"systemPrompt" is larger than ${MAX_BYTES} bytes`);
  else return value.trim();
  return undefined;
}

async function fromFile(value: unknown, root: PluginRoot, report: Report): Promise<string | undefined> {
  if (value === undefined) return undefined;
  const drop = (reason: string): undefined => {
    report('warn', `"systemPromptPath" ${reason}`);
  };
  const found = await insidePath(root, value);
  if (found.kind === 'malformed') return drop('must be a text that starts with "./"');
  if (found.kind === 'outside') return drop('leads out of the plugin');
  if (found.kind !== 'file') return drop('is not a file');
  try {
    const bytes = await readRegular(found.path, { maxBytes: MAX_BYTES, admit: admitInside(root) });
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
  } catch (error) {
    return drop(`cannot be read: ${errorCode(error) ?? errorMessage(error)}`);
  }
}
