/** The operations that change a transcript. No kind may be added: clients reject unknown kinds. */
import * as z from 'zod';
import { count } from '../scalars.ts';
import {
  frameSchema,
  interactionSchema,
  itemSchema,
  markerSchema,
  metaGoal,
  metaPlan,
  metaRest,
  metaSchema,
  metaSwarm,
  stepHeaderSchema,
  taskRefSchema,
  taskSchema,
  todoSchema,
  transcriptAttachmentSchema,
  transcriptPromptSchema,
  turnHeaderSchema,
} from './transcript.ts';

/** A complete state; equal to what a client builds from a page. */
export const snapshotSchema = z.object({
  items: z.array(itemSchema),
  tasks: z.array(taskSchema),
  interactions: z.array(interactionSchema).default([]),
  attachments: z.array(transcriptAttachmentSchema).default([]),
  todos: z.array(todoSchema).default([]),
  prompts: z.array(transcriptPromptSchema).default([]),
  meta: metaSchema,
  hasMoreOlder: z.boolean().optional(),
});

/** `null` removes a value; an absent member leaves it unchanged. */
const metaMergeSchema = z.object({
  goal: metaGoal.nullable().optional(),
  modes: z.object({ plan: metaPlan.nullable().optional(), swarm: metaSwarm.nullable().optional() }).optional(),
  ...metaRest,
});

const turnId = z.string();

export const transcriptOpSchema = z
  .discriminatedUnion('op', [
    z.object({ op: z.literal('turn.upsert'), turn: turnHeaderSchema }),
    z.object({ op: z.literal('step.upsert'), turnId, step: stepHeaderSchema }),
    z.object({ op: z.literal('frame.upsert'), turnId, stepId: z.string(), frame: frameSchema }),
    z.object({
      op: z.literal('append'),
      target: z.discriminatedUnion('type', [
        z.object({ type: z.literal('frame'), turnId, stepId: z.string(), frameId: z.string() }),
        z.object({ type: z.literal('task'), taskId: z.string() }),
      ]),
      /** Length of the frame's text before the append, in UTF-16 code units. */
      offset: count,
      text: z.string(),
    }),
    z.object({ op: z.literal('marker.upsert'), item: markerSchema, beforeTurn: z.int().optional() }),
    z.object({ op: z.literal('taskref.upsert'), item: taskRefSchema, beforeTurn: z.int().optional() }),
    z.object({ op: z.literal('task.upsert'), task: taskSchema }),
    z.object({ op: z.literal('interaction.upsert'), interaction: interactionSchema }),
    z.object({ op: z.literal('attachment.upsert'), attachment: transcriptAttachmentSchema }),
    z.object({ op: z.literal('todo.upsert'), todo: todoSchema }),
    z.object({ op: z.literal('prompt.upsert'), prompt: transcriptPromptSchema }),
    z.object({ op: z.literal('meta.merge'), meta: metaMergeSchema }),
    z.object({ op: z.literal('items.remove'), ids: z.array(z.string()) }),
    z.object({ op: z.literal('reset'), agentId: z.string(), snapshot: snapshotSchema }),
  ])
  .meta({ id: 'TranscriptOp' });
export type TranscriptOp = z.infer<typeof transcriptOpSchema>;

/** The operations of one record or volatile event; the batches of an agent are numbered without gaps. */
const batchSchema = z.object({ seq: count, ops: z.array(transcriptOpSchema) }).meta({ id: 'TranscriptBatch' });

export const transcriptOpsSchema = z.object({
  agent_id: z.string(),
  batches: z.array(batchSchema),
  latest_seq: count,
  /** False if the batches do not lead to `latest_seq`; the client has to read a page. */
  complete: z.boolean(),
});
export type TranscriptOps = z.infer<typeof transcriptOpsSchema>;
