/** The origin of a turn, in the transcript's form. */
import type { EventRecord } from '#server/journal/records.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import type { Origin } from '#schema/engine.ts';
import type { TurnOrigin } from '#schema/rest/transcript.ts';

/** Adds the kind by which clients distinguish turns. */
export function turnOrigin(payload: Origin): TurnOrigin {
  switch (payload.kind) {
    case 'user':
    case 'shell_command':
      return { kind: 'user', payload };
    case 'cron_job':
      return { kind: 'cron', taskId: payload.jobId, payload };
    case 'cron_missed':
      return { kind: 'cron', payload };
    case 'task':
      // Turns of old journals may lack `taskId`.
      return payload.taskId ? { kind: 'task', taskId: payload.taskId, payload } : { kind: 'other', payload };
    case 'hook_result':
      return { kind: 'hook', payload };
    case 'compaction_summary':
      return { kind: 'compaction', payload };
    default:
      return { kind: 'other', payload };
  }
}

/** Whether a person has typed the prompt: also the activation of a skill and a plugin's command. */
export function isTyped(origin: Stored<Origin> | undefined): boolean {
  switch (origin?.kind) {
    case undefined:
    case 'user':
      return true;
    case 'skill_activation':
    case 'plugin_command':
      return origin.trigger === 'user-slash';
    default:
      return false;
  }
}

/** The text that opened a turn; undefined unless a person wrote it or set it up. */
export function turnPrompt({ origin, prompt, x }: EventRecord<'turn.started'>): Text | undefined {
  switch (origin.kind) {
    case 'user':
      // Media without text have no prompt.
      return prompt === '' && x?.attachments?.length ? undefined : prompt;
    case 'cron_job':
    case 'cron_missed':
      return x?.text;
    case 'skill_activation':
    case 'plugin_command':
      return origin.trigger === 'user-slash' ? x?.text : undefined;
    default:
      return undefined;
  }
}
