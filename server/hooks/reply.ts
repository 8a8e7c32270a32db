/** The reply of a hook, parsed from its exit code and output. */
import * as z from 'zod';
import { cutText, OUTPUT_MAX_CHARS, TRUNCATION_MARKER } from '#server/text/truncate.ts';
import { tryParseJson } from '#server/text/json.ts';
import type { HookEnd } from './run-hook.ts';

const BLOCKED = 2;

export interface HookReply {
  /** The reason to block; undefined allows. */
  blocked?: string;
  /** Text that the hook adds. */
  text?: string;
}

// A malformed member is treated as omitted, so that the other members remain valid.
const text = z.string().optional().catch(undefined);
const replySchema = z.object({
  message: text,
  hookSpecificOutput: z
    .object({ message: text, permissionDecision: text, permissionDecisionReason: text })
    .optional()
    .catch(undefined),
});

/** Trims and truncates text for the model to the limit of tool output. */
function bounded(output: string): string {
  const trimmed = output.trim();
  if (trimmed.length <= OUTPUT_MAX_CHARS) return trimmed;
  return cutText(trimmed, OUTPUT_MAX_CHARS - TRUNCATION_MARKER.length) + TRUNCATION_MARKER;
}

const reason = (given: string | undefined) => bounded(given ?? '') || 'blocked by a hook';

/** Parses the reply; a hook that was stopped or failed allows. */
export function hookReply({ exitCode, stopped, stdout, stderr }: HookEnd): HookReply {
  if (stopped) return {};
  if (exitCode === BLOCKED) return { blocked: reason(stderr) };
  if (exitCode !== 0) return {};
  const json = replySchema.safeParse(tryParseJson(stdout));
  if (!json.success) return added(stdout);
  const { message, hookSpecificOutput: specific } = json.data;
  if (specific?.permissionDecision === 'deny') return { blocked: reason(specific.permissionDecisionReason) };
  return added(message ?? specific?.message ?? '');
}

function added(output: string): HookReply {
  const shown = bounded(output);
  return shown === '' ? {} : { text: shown };
}
