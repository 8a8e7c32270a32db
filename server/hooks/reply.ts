/** What a hook says by its exit code and its output. */
import { z } from 'zod';
import { cutText, OUTPUT_MAX_CHARS, TRUNCATION_MARKER } from '#server/bounded-text.ts';
import { tryParseJson } from '#server/json.ts';
import type { HookEnd } from './run-hook.ts';

const BLOCKED = 2;

export interface HookReply {
  /** Why what it was asked about must not be; undefined allows. */
  blocked?: string;
  /** What it adds. */
  text?: string;
}

// A member that is ill-typed counts as left out, so that it takes no other along.
const text = z.string().optional().catch(undefined);
const replySchema = z.object({
  message: text,
  hookSpecificOutput: z
    .object({ message: text, permissionDecision: text, permissionDecisionReason: text })
    .optional()
    .catch(undefined),
});

/** Within what a tool's output may have, as it goes to the model. */
function bounded(output: string): string {
  const trimmed = output.trim();
  if (trimmed.length <= OUTPUT_MAX_CHARS) return trimmed;
  return cutText(trimmed, OUTPUT_MAX_CHARS - TRUNCATION_MARKER.length) + TRUNCATION_MARKER;
}

const reason = (given: string | undefined) => bounded(given ?? '') || 'blocked by a hook';

/** One that was stopped, or failed, allows. */
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
