/**
 * The transcript of an agent: a timeline of turns, markers and task references, and further objects keyed by id.
 * Members are in camel case here, unlike those of other replies.
 */
import * as z from 'zod';
import { transcriptCallerSchema } from './caller.ts';
import { contentPartSchema } from './content.ts';
import { originSchema, stepTimings, tokenUsageSchema } from '../engine.ts';
import { goalStatus } from '../events/modes.ts';
import { phaseSchema, usageStatusSchema } from '../events/volatile.ts';
import { count, isoTime, nonEmpty, permissionModeSchema } from '../scalars.ts';
import { settingsChangeSchema } from './settings-change.ts';

const payload = originSchema.meta({ id: 'Origin' }).optional();

/** Origin of a turn; `payload` is the engine's origin object. */
export const turnOriginSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('user'), payload }),
    z.object({ kind: z.literal('cron'), taskId: z.string().optional(), payload }),
    z.object({ kind: z.literal('task'), taskId: z.string(), payload }),
    z.object({ kind: z.literal('hook'), payload }),
    z.object({ kind: z.literal('compaction'), payload }),
    z.object({ kind: z.literal('side'), payload }),
    z.object({ kind: z.literal('other'), payload }),
  ])
  .meta({ id: 'TurnOrigin' });
export type TurnOrigin = z.infer<typeof turnOriginSchema>;

const textFrameSchema = z.object({
  kind: z.literal('text'),
  frameId: nonEmpty,
  /** `user`: input that was steered into the running turn. */
  role: z.enum(['assistant', 'user']),
  text: z.string(),
  attachmentIds: z.array(z.string()).optional(),
  taskId: z.string().optional(),
});

const thinkingFrameSchema = z.object({ kind: z.literal('thinking'), frameId: nonEmpty, text: z.string() });

const progressSchema = z.object({
  kind: z.enum(['stdout', 'stderr', 'progress', 'status', 'custom']),
  text: z.string().optional(),
  percent: z.number().optional(),
  customKind: z.string().optional(),
  customData: z.unknown().optional(),
});

const toolFrameSchema = z.object({
  kind: z.literal('tool'),
  frameId: nonEmpty,
  toolCallId: z.string(),
  name: z.string(),
  view: z.string().optional(),
  state: z.enum(['running', 'done', 'error']),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  display: z.unknown().optional(),
  error: z.string().optional(),
  /** Arguments as they stream; only while the call runs. */
  inputText: z.string().optional(),
  /** The latest progress; only while the call runs. */
  progress: progressSchema.optional(),
  taskId: z.string().optional(),
  /** Id of the approval or question that the call raised. */
  approvalId: z.string().optional(),
  todoId: z.string().optional(),
  agentRefs: z.array(z.object({ agentId: z.string(), role: z.enum(['child', 'member']).optional() })).optional(),
});

const noticeFrameSchema = z.object({
  kind: z.literal('notice'),
  frameId: nonEmpty,
  level: z.enum(['error', 'warning', 'info']),
  source: z.string().optional(),
  message: z.string(),
  detail: z.unknown().optional(),
});

export const frameSchema = z
  .discriminatedUnion('kind', [textFrameSchema, thinkingFrameSchema, toolFrameSchema, noticeFrameSchema])
  .meta({ id: 'TranscriptFrame' });
export type Frame = z.infer<typeof frameSchema>;

const stepSchema = z
  .object({
    kind: z.literal('step'),
    stepId: nonEmpty,
    turnId: nonEmpty,
    ordinal: z.int(),
    state: z.enum(['running', 'completed', 'interrupted', 'failed']),
    startedAt: isoTime.optional(),
    endedAt: isoTime.optional(),
    usage: tokenUsageSchema.optional(),
    finishReason: z.string().optional(),
    timing: z
      .object({
        ...stepTimings,
      })
      .optional(),
    /** Only while the step waits for its retry. */
    retry: z
      .object({
        failedAttempt: count,
        nextAttempt: count,
        maxAttempts: count,
        delayMs: z.number(),
        errorName: z.string(),
        errorMessage: z.string(),
        statusCode: z.int().optional(),
      })
      .optional(),
    endReason: z.string().optional(),
    endMessage: z.string().optional(),
    frames: z.array(frameSchema),
  })
  .meta({ id: 'TranscriptStep' });
export type Step = z.infer<typeof stepSchema>;
export const stepHeaderSchema = stepSchema.omit({ frames: true }).meta({ id: 'TranscriptStepHeader' });

export const turnState = z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']);

const turnSchema = z.object({
  kind: z.literal('turn'),
  turnId: nonEmpty,
  ordinal: z.int(),
  state: turnState,
  origin: turnOriginSchema,
  /** Text of the prompt that opened the turn. */
  prompt: z.string().optional(),
  attachmentIds: z.array(z.string()).optional(),
  startedAt: isoTime.optional(),
  endedAt: isoTime.optional(),
  /** Sum over the steps. */
  usage: z
    .object({
      inputTokens: z.number().optional(),
      outputTokens: z.number().optional(),
      cachedTokens: z.number().optional(),
      cost: z.number().optional(),
    })
    .optional(),
  durationMs: z.number().optional(),
  error: z.string().optional(),
  steps: z.array(stepSchema),
});
export const turnHeaderSchema = turnSchema.omit({ steps: true }).meta({ id: 'TranscriptTurnHeader' });

export const markerSchema = z.object({
  kind: z.literal('marker'),
  markerId: nonEmpty,
  /** Clients ignore unknown names. */
  marker: z.string(),
  payload: z.unknown().optional(),
  at: isoTime.optional(),
});

export const taskRefSchema = z.object({
  kind: z.literal('taskref'),
  refId: nonEmpty,
  taskId: nonEmpty,
  at: isoTime.optional(),
});

export const itemSchema = z
  .discriminatedUnion('kind', [turnSchema, markerSchema, taskRefSchema])
  .meta({ id: 'TranscriptItem' });
export type Item = z.infer<typeof itemSchema>;

export const taskSchema = z
  .object({
    taskId: nonEmpty,
    kind: z.enum(['shell', 'subagent', 'tool', 'other']),
    state: z.enum(['running', 'completed', 'failed', 'timed_out', 'killed', 'lost']),
    /** False while a tool call waits for the task. */
    detached: z.boolean(),
    description: z.string().optional(),
    agentId: z.string().optional(),
    outputTail: z.string(),
    startedAt: isoTime.optional(),
    endedAt: isoTime.optional(),
    resultSummary: z.string().optional(),
    error: z.string().optional(),
    stateReason: z.string().optional(),
    usage: tokenUsageSchema.optional(),
  })
  .meta({ id: 'TranscriptTask' });

export const interactionSchema = z
  .object({
    interactionId: nonEmpty,
    interactionKind: z.enum(['approval', 'question']),
    toolCallId: z.string().optional(),
    state: z.enum(['pending', 'approved', 'rejected', 'cancelled', 'answered', 'dismissed']),
    request: z.unknown().optional(),
    response: z.unknown().optional(),
    /** The client that answered; absent if no client did. */
    answeredBy: transcriptCallerSchema.optional(),
  })
  .meta({ id: 'TranscriptInteraction' });

export const transcriptAttachmentSchema = z
  .object({
    attachmentId: nonEmpty,
    mediaType: z.string(),
    name: z.string().optional(),
    size: z.number().optional(),
    placeholder: z.string().optional(),
    source: z
      .discriminatedUnion('kind', [
        z.object({ kind: z.literal('url'), url: z.string() }),
        z.object({ kind: z.literal('file'), fileId: z.string() }),
        z.object({ kind: z.literal('session_media'), fileId: z.string() }),
      ])
      .optional(),
  })
  .meta({ id: 'TranscriptAttachment' });

export const todoSchema = z
  .object({
    todoId: nonEmpty,
    items: z.array(z.object({ title: z.string(), status: z.enum(['pending', 'in_progress', 'done']) })),
    updatedAt: isoTime.optional(),
  })
  .meta({ id: 'TranscriptTodo' });

export const transcriptPromptSchema = z
  .object({
    promptId: nonEmpty,
    status: z.enum(['running', 'queued', 'blocked', 'completed', 'failed', 'aborted']),
    userMessageId: z.string().optional(),
    content: z.array(contentPartSchema).optional(),
    createdAt: isoTime,
    finishedAt: isoTime.optional(),
    steeredAt: isoTime.optional(),
  })
  .meta({ id: 'TranscriptPrompt' });

export const metaGoal = z.object({
  objective: z.string(),
  status: goalStatus,
  completionCriterion: z.string().optional(),
  budgetUsed: z.number().optional(),
  budgetLimit: z.number().optional(),
});
export const metaPlan = z.object({ reviewPath: z.string().optional(), version: z.number().optional() });
export type MetaPlan = z.infer<typeof metaPlan>;
export const metaSwarm = z.object({ trigger: z.string().optional() });

const agentFactsSchema = z
  .object({
    model: z.string().optional(),
    thinkingEffort: z.string().optional(),
    usage: usageStatusSchema.optional(),
    contextTokens: z.number().optional(),
    maxContextTokens: z.number().optional(),
    contextUsage: z.number().optional(),
    permission: permissionModeSchema.optional(),
    /** The client that set `permission`; an empty object if the server changed it after a client had set it. */
    permissionBy: transcriptCallerSchema.optional(),
    phase: phaseSchema.optional(),
  })
  .meta({ id: 'TranscriptAgentFacts' });

/** Metadata without an id and without a position in the timeline. */
export const metaRest = {
  activity: z.enum(['idle', 'turn', 'disposing', 'unknown']).optional(),
  agent: agentFactsSchema.optional(),
  /** Settings that changed while a command of the model ran: the latest 50, oldest first. Undo does not remove them. */
  settingsChanges: z.array(settingsChangeSchema).optional(),
};

export const metaSchema = z
  .object({
    goal: metaGoal.optional(),
    /** A mode's member is present while the mode is on. */
    modes: z.object({ plan: metaPlan.optional(), swarm: metaSwarm.optional() }).optional(),
    ...metaRest,
  })
  .meta({ id: 'TranscriptMeta' });

/** An agent of the session. */
export const rosterEntrySchema = z
  .object({
    agentId: nonEmpty,
    type: z.enum(['main', 'sub', 'independent']).optional(),
    parentAgentId: z.string().optional(),
    label: z.string().optional(),
    createdAt: isoTime.optional(),
    disposedAt: isoTime.optional(),
  })
  .meta({ id: 'TranscriptAgent' });

/** One read of an agent's transcript: complete except for older or newer turns. */
export const transcriptPageSchema = z.object({
  agent_id: z.string(),
  items: z.array(itemSchema),
  has_more: z.boolean(),
  tasks: z.array(taskSchema),
  interactions: z.array(interactionSchema),
  attachments: z.array(transcriptAttachmentSchema),
  todos: z.array(todoSchema),
  prompts: z.array(transcriptPromptSchema),
  meta: metaSchema,
  agents: z.array(rosterEntrySchema),
  pending_interactions: z.array(z.string()),
  /** The agent's watermark; only for a loaded session. */
  seq: count.optional(),
});

const userMessageSchema = z.object({
  turn_id: nonEmpty,
  ordinal: z.int(),
  state: turnState,
  origin: turnOriginSchema,
  prompt: z.string(),
  attachment_ids: z.array(z.string()).optional(),
  started_at: isoTime.optional(),
});

export const userMessagesSchema = z.object({
  agents: z.array(
    z.object({
      agent_id: z.string(),
      messages: z.array(userMessageSchema),
      attachments: z.array(transcriptAttachmentSchema),
    }),
  ),
});

/** A plan that was presented for review. */
const planSchema = z.object({
  tool_call_id: z.string(),
  turn_id: nonEmpty,
  source: z.enum(['interaction', 'display', 'output']),
  plan: z.string(),
  path: z.string().optional(),
  options: z.array(z.object({ label: z.string(), description: z.string().optional() })).optional(),
  review: z
    .object({ state: z.string(), selected_option: z.string().optional(), feedback: z.string().optional() })
    .optional(),
});
export type Plan = z.infer<typeof planSchema>;

export const plansSchema = z.object({ agent_id: z.string(), plans: z.array(planSchema) });

export type Task = z.infer<typeof taskSchema>;
export type Interaction = z.infer<typeof interactionSchema>;
export type TranscriptAttachment = z.infer<typeof transcriptAttachmentSchema>;
export type Todo = z.infer<typeof todoSchema>;
export type TranscriptPrompt = z.infer<typeof transcriptPromptSchema>;
export type Meta = z.infer<typeof metaSchema>;
export type RosterEntry = z.infer<typeof rosterEntrySchema>;
export type TranscriptPage = z.infer<typeof transcriptPageSchema>;
export type UserMessages = z.infer<typeof userMessagesSchema>;
export type Plans = z.infer<typeof plansSchema>;
