/** Background tasks. */
import * as z from 'zod';

const taskBase = {
  taskId: z.string(),
  description: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'timed_out', 'killed', 'lost']),
  detached: z.boolean().optional(),
  /** Milliseconds since the epoch, like all times of a task. */
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  stopReason: z.string().optional(),
  terminalNotificationSuppressed: z.boolean().optional(),
  timeoutMs: z.number().optional(),
};

export const taskInfoSchema = z.discriminatedUnion('kind', [
  z.object({
    ...taskBase,
    kind: z.literal('process'),
    command: z.string(),
    pid: z.number().int(),
    exitCode: z.number().int().nullable(),
    parentToolCallId: z.string().optional(),
  }),
  z.object({
    ...taskBase,
    kind: z.literal('agent'),
    agentId: z.string().optional(),
    subagentType: z.string().optional(),
    parentToolCallId: z.string().optional(),
    model: z.string().optional(),
    thinkingEffort: z.string().optional(),
  }),
  z.object({
    ...taskBase,
    kind: z.literal('question'),
    questionCount: z.number().int(),
    toolCallId: z.string().optional(),
  }),
]);
export type TaskInfo = z.infer<typeof taskInfoSchema>;

type Own<T> = T extends TaskInfo ? Omit<T, keyof typeof taskBase> : never;
/** The members of a task's info that are specific to its kind. */
export type TaskMembers = Own<TaskInfo>;

const task = z.object({ info: taskInfoSchema });

export const taskEvents = {
  'task.started': task,
  'task.terminated': task,
  'background.task.started': task,
  'background.task.terminated': task,
  'task.notified': z.object({
    notificationType: z.string(),
    title: z.string(),
    body: z.string(),
    severity: z.enum(['info', 'warning']),
    sourceKind: z.literal('background_task'),
    sourceId: z.string(),
  }),
};
