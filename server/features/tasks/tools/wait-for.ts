/** WaitFor: suspends the turn until a task has ended. */
import * as z from 'zod';
import type { Clock } from '#server/clock.ts';
import { noticeId } from '#server/journal/task-notices.ts';
import { defineTool, failed, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';
import type { ListedTask } from '../listed-tasks.ts';
import { noSuchTask, SEPARATOR, taskLines, terminalReason } from './texts.ts';

const MAX_S = 600;
const PROGRESS_MS = 1000;
const PREVIEW_BYTES = 3000;

const parameters = z.object({
  timeout: z.int().min(1).max(MAX_S).describe('Seconds to wait at most. Reaching them is no error.'),
  task_id: z.string().min(1).optional().describe('The task to wait for. Default: the first that ends of all that run.'),
});
type Arguments = z.output<typeof parameters>;

export interface WaitForDeps {
  /** Tasks of the agent, oldest first. */
  tasks(): ListedTask[];
  find(id: string): ListedTask | undefined;
  clock: Clock;
}

const runs = ({ info }: ListedTask) => info.status === 'running';

export function createWaitForTool({ tasks, find, clock }: WaitForDeps): Tool {
  /** Resolves to whether one of these tasks ended within the timeout; rejects when the turn is aborted. */
  function firstEnd(ids: string[], timeoutS: number, context: RunContext): Promise<boolean> {
    const { signal } = context;
    return new Promise((resolve, reject) => {
      let cancelTimer = () => {};
      const onAbort = () => settle(() => reject(signal.reason));
      function settle(how: () => void): void {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        how();
      }
      /** Sums the waits, so that a clock that is set back does not extend the timeout. */
      function tick(waited: number): void {
        const left = timeoutS * 1000 - waited;
        if (left <= 0) settle(() => resolve(false));
        else {
          const next = Math.min(left, PROGRESS_MS);
          cancelTimer = clock.setTimeout(() => tick(waited + next), next);
          context.progress({
            kind: 'status',
            text: `Waiting for ${ids.join(', ')}: ${Math.round(waited / 1000)} s`,
          });
        }
      }
      signal.addEventListener('abort', onAbort, { once: true });
      for (const id of ids) void context.tasks.get(id)?.ended.then(() => settle(() => resolve(true)));
      tick(0);
    });
  }

  async function wait({ timeout, task_id: wanted }: Arguments, context: RunContext): Promise<ToolResult> {
    const named = wanted === undefined ? undefined : find(wanted);
    if (wanted !== undefined && !named) return failed(noSuchTask(wanted));
    const before = tasks().filter(runs);
    const watched = named ? [named].filter(runs) : before;
    if (!named && watched.length === 0) return { output: 'wait_status: no_tasks\nNo task is running.' };
    try {
      const ids = watched.map(({ info }) => info.taskId);
      const ended = ids.length === 0 || (await firstEnd(ids, timeout, context));
      return await report(ended, named?.info.taskId, before);
    } catch (error) {
      if (context.signal.aborted) return failed('The wait was interrupted; the tasks go on.');
      throw error;
    }
  }

  /** `before` are the tasks that were running at the start of the wait. */
  async function report(ended: boolean, named: string | undefined, before: ListedTask[]): Promise<ToolResult> {
    const now = before.flatMap(({ info }) => find(info.taskId) ?? []);
    const over = now.filter((task) => !runs(task)).toSorted((a, b) => (a.info.endedAt ?? 0) - (b.info.endedAt ?? 0));
    const asked = named === undefined ? over[0] : find(named);
    const finished = ended && asked && !runs(asked) ? [asked] : [];
    const others = over.filter(({ info }) => info.taskId !== finished[0]?.info.taskId);
    const reported = [...finished, ...others];
    const sections = [
      await section('finished', finished),
      await section('completed_during_wait', others),
      await section('still_running', now.filter(runs)),
    ];
    return {
      output: [`wait_status: ${ended ? 'completed' : 'timed_out'}`, ...sections.filter(Boolean)].join('\n\n'),
      truncated: true,
      ...(reported.length > 0 ? { x: { delivered: reported.map(({ info }) => noticeId(info)) } } : {}),
    };
  }

  return defineTool({
    name: 'WaitFor',
    permission: 'free',
    effects: 'none',
    description:
      'Waits inside this turn until a task in the background has ended. Use it only when nothing else is left to do: you are notified of every end anyway. Tasks that it reports as ended are not notified again.',
    parameters,
    prepare(args) {
      return {
        accesses: [{ kind: 'all' }],
        label: `Waiting for ${args.task_id ?? 'any task'}`,
        subject: { text: args.task_id ?? 'any', match: 'glob' },
        run: (context) => wait(args, context),
      };
    },
  });
}

async function section(title: string, tasks: ListedTask[]): Promise<string> {
  if (tasks.length === 0) return '';
  const shown = tasks.map(async (task) => {
    const lines = [...taskLines(task), ...terminalReason(task.info)];
    const output = runs(task) ? undefined : await task.output(PREVIEW_BYTES);
    return [...lines, ...(output === undefined ? [] : ['output:', output])].join('\n');
  });
  return `[${title}]\n${(await Promise.all(shown)).join(SEPARATOR)}`;
}
