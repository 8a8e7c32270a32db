/** Content parts of prompts and messages. */
import * as z from 'zod';
import { count, nonEmpty } from '../scalars.ts';

export const sourceSchema = z.discriminatedUnion(
  'kind',
  [
    z.object({ kind: z.literal('url'), url: nonEmpty, id: nonEmpty.optional() }),
    z.object({ kind: z.literal('base64'), media_type: nonEmpty, data: nonEmpty }),
    z.object({ kind: z.literal('file'), file_id: nonEmpty }),
    z.object({ kind: z.literal('session_media'), file_id: nonEmpty }),
  ],
  { error: 'Invalid input' },
);
export type MediaSource = z.infer<typeof sourceSchema>;

export const imagePartSchema = z.object({ type: z.literal('image'), source: sourceSchema });
export const videoPartSchema = z.object({ type: z.literal('video'), source: sourceSchema });
export const filePartSchema = z.object({
  type: z.literal('file'),
  file_id: nonEmpty,
  name: z.string(),
  media_type: nonEmpty,
  size: count,
});

export const contentPartSchema = z
  .discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('text'), text: z.string() }),
      imagePartSchema,
      videoPartSchema,
      filePartSchema,
      z.object({
        type: z.literal('tool_use'),
        tool_call_id: nonEmpty,
        tool_name: nonEmpty,
        input: z.unknown().optional(),
      }),
      z.object({
        type: z.literal('tool_result'),
        tool_call_id: nonEmpty,
        output: z.unknown().optional(),
        is_error: z.boolean().optional(),
      }),
      z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().optional() }),
    ],
    { error: 'Invalid input' },
  )
  .meta({ id: 'ContentPart' });
export type ContentPart = z.infer<typeof contentPartSchema>;
