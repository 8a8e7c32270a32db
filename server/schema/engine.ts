/** The engine's message model and the shapes that journal, events and models share. */
import * as z from 'zod';

export const textPartSchema = z.object({ type: z.literal('text'), text: z.string() });
export const thinkPartSchema = z.object({
  type: z.literal('think'),
  think: z.string(),
  /** The provider's signature or opaque reasoning blob; sent back to it unchanged. */
  encrypted: z.string().optional(),
  /** Wire format it arrived in (`anthropic`, …); no protocol is sent a signature of another one. */
  format: z.string().optional(),
});
const mediaUrl = z.object({ url: z.string(), id: z.string().optional() });
export const imagePartSchema = z.object({ type: z.literal('image_url'), imageUrl: mediaUrl });
export const audioPartSchema = z.object({ type: z.literal('audio_url'), audioUrl: mediaUrl });
export const videoPartSchema = z.object({ type: z.literal('video_url'), videoUrl: mediaUrl });
export const partSchema = z.discriminatedUnion('type', [
  textPartSchema,
  thinkPartSchema,
  imagePartSchema,
  audioPartSchema,
  videoPartSchema,
]);
export type Part = z.infer<typeof partSchema>;

/** Output of a tool: plain text, or parts if it contains media. */
export const toolOutputSchema = z.union([z.string(), z.array(partSchema)]);
export type ToolOutput = z.infer<typeof toolOutputSchema>;

/** A tool call as the model wrote it: `arguments` is the raw text, so that a later request repeats the same bytes. */
export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string().nullable(),
  extras: z.record(z.string(), z.unknown()).optional(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** A skill that was sent with a prompt. */
export const bundledSkillSchema = z.object({
  activationId: z.string(),
  skillName: z.string(),
  skillArgs: z.string().optional(),
  skillType: z.string().optional(),
  skillPath: z.string().optional(),
  skillSource: z.string().optional(),
});
export type BundledSkill = z.infer<typeof bundledSkillSchema>;

const skillActivationSchema = bundledSkillSchema.extend({
  kind: z.literal('skill_activation'),
  trigger: z.enum(['user-slash', 'model-tool', 'nested-skill']),
});

export const cronJobOriginSchema = z.object({
  kind: z.literal('cron_job'),
  jobId: z.string(),
  cron: z.string(),
  recurring: z.boolean(),
  coalescedCount: z.number().int(),
  stale: z.boolean(),
});

/** Source of a message; clients use it to hide reminders and similar messages. */
export const originSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('user'), skillActivations: z.array(bundledSkillSchema).optional() }),
  skillActivationSchema,
  z.object({
    kind: z.literal('plugin_command'),
    activationId: z.string(),
    pluginId: z.string(),
    commandName: z.string(),
    commandArgs: z.string().optional(),
    trigger: z.literal('user-slash'),
  }),
  z.object({
    kind: z.literal('injection'),
    variant: z.string(),
    ownerPromptId: z.string().optional(),
    disclosure: z.unknown().optional(),
  }),
  z.object({
    kind: z.literal('shell_command'),
    phase: z.enum(['input', 'output']),
    isError: z.boolean().optional(),
  }),
  z.object({ kind: z.literal('compaction_summary') }),
  z.object({ kind: z.literal('system_trigger'), name: z.string() }),
  z.object({ kind: z.literal('task'), taskId: z.string(), status: z.string(), notificationId: z.string() }),
  cronJobOriginSchema,
  z.object({ kind: z.literal('cron_missed'), count: z.number().int() }),
  z.object({
    kind: z.literal('hook_result'),
    event: z.string(),
    blocked: z.boolean().optional(),
    ownerPromptId: z.string().optional(),
  }),
  z.object({ kind: z.literal('retry'), trigger: z.string().optional() }),
]);
export type Origin = z.infer<typeof originSchema>;

/** JSON Schema of a tool, as sent to the model. */
export const toolSchemaSchema = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});
export type ToolSchema = z.infer<typeof toolSchemaSchema>;

export const contextMessageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.array(partSchema),
  toolCalls: z.array(toolCallSchema),
  toolCallId: z.string().optional(),
  isError: z.boolean().optional(),
  note: z.string().optional(),
  tools: z.array(toolSchemaSchema).optional(),
  origin: originSchema.optional(),
  /** `msg_<ulid>`, set on prompts; equals `prompt_id` and `user_message_id`. */
  id: z.string().optional(),
});
export type ContextMessage = z.infer<typeof contextMessageSchema>;

/** Durations of the parts of a model request; members of the payloads that report the end of a step. */
export const stepTimings = {
  llmFirstTokenLatencyMs: z.number().optional(),
  llmStreamDurationMs: z.number().optional(),
  llmRequestBuildMs: z.number().optional(),
  llmServerFirstTokenMs: z.number().optional(),
  llmServerDecodeMs: z.number().optional(),
  llmClientConsumeMs: z.number().optional(),
};

/** Token counts of one request; the input total is the sum of the three input members. */
export const tokenUsageSchema = z.object({
  inputOther: z.number(),
  output: z.number(),
  inputCacheRead: z.number(),
  inputCacheCreation: z.number(),
});
export type TokenUsage = z.infer<typeof tokenUsageSchema>;

/** Error payload of `turn.ended.error` and the `error` event. */
export interface ErrorPayload {
  code: string;
  message: string;
  name?: string | undefined;
  details?: Record<string, unknown> | undefined;
  retryable: boolean;
  cause?: ErrorPayload | undefined;
}
export const errorPayloadSchema: z.ZodType<ErrorPayload> = z.lazy(() =>
  z.object({
    code: z.string(),
    message: z.string(),
    name: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
    retryable: z.boolean(),
    cause: errorPayloadSchema.optional(),
  }),
);
