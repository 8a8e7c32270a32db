/** Spills text results that are too long for the conversation to a file that Read can page through. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { cutText } from '#server/text/truncate.ts';
import type { ToolResult } from '#server/tools/tool.ts';

export const SPILL_MIN_CHARS = 50_000;
export const SPILL_PREVIEW_CHARS = 2000;
const SPILL_STEM_MAX_CHARS = 80;

export interface SpillOptions {
  toolName: string;
  toolCallId: string;
  /** `agents/<agent>/tool-results` of the session; created when missing. */
  dir: string;
  /** Called with the reason if the result could not be saved; it then stays in the conversation in full. */
  onError(message: string): void;
}

/** `<tool>-<callid>-<uuid>.txt` in safe characters; only the part before the uuid is truncated. */
function spillName(toolName: string, toolCallId: string): string {
  const uuid = randomUUID();
  const stem = `${toolName}-${toolCallId}`.replace(/[^A-Za-z0-9._-]/g, '_');
  return `${stem.slice(0, SPILL_STEM_MAX_CHARS - uuid.length - 1)}-${uuid}.txt`;
}

/** Returns the result unchanged, or one whose output is the header block and a preview of the saved text. */
export async function spillOutput(result: ToolResult, options: SpillOptions): Promise<ToolResult> {
  const { output } = result;
  if (typeof output !== 'string' || output.length <= SPILL_MIN_CHARS) return result;
  if (result.truncated || options.toolName === 'Read') return result;
  const path = join(options.dir, spillName(options.toolName, options.toolCallId));
  try {
    await mkdir(options.dir, { recursive: true });
    await writeFileAtomic(path, output);
  } catch (error) {
    options.onError(errorMessage(error));
    return result;
  }
  const header = [
    `tool_name: ${options.toolName}`,
    `tool_call_id: ${options.toolCallId}`,
    `output_size_chars: ${output.length}`,
    `output_size_bytes: ${Buffer.byteLength(output)}`,
    `output_path: ${path}`,
    'next_step: The output was too long and was saved to output_path. Use Read with line_offset and n_lines, or Grep, to look at the parts you need.',
    '',
    '[preview]',
  ];
  return { ...result, output: `${header.join('\n')}\n${cutText(output, SPILL_PREVIEW_CHARS)}`, truncated: true };
}
