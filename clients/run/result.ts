/** The last line of `--json`. */
import type { Session } from '@service-code/client';
import type { EndReason } from './exit-codes.ts';
import type { DeniedCall } from './requests.ts';
import type { Usage } from './turn.ts';

export interface Result {
  reason: EndReason;
  message?: string | undefined;
  session?: Session;
  text: string;
  usage?: Usage;
  denied: readonly DeniedCall[];
  backgroundTasks: readonly string[];
}

/** The result of a run that ended before its turn. */
export const failedResult = (reason: EndReason, message: string): Result => ({
  reason,
  message,
  text: '',
  denied: [],
  backgroundTasks: [],
});

/** `begun`: when the run began, on the clock of `performance.now()`. */
export const resultLine = (result: Result, begun: number): object => ({
  type: 'result',
  session_id: result.session?.id ?? null,
  reason: result.reason,
  text: result.text,
  usage: result.usage ?? null,
  denied: result.denied,
  background_tasks: result.backgroundTasks.length,
  duration_ms: Math.round(performance.now() - begun),
  ...(result.message !== undefined && { message: result.message }),
});
