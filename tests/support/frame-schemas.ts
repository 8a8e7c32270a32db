/** Validates received frames against the AsyncAPI document that the server publishes. */
import { Ajv } from 'ajv';
import * as z from 'zod';
import { serverFrames } from '#schema/frames/server-frames.ts';

const documentSchema = z.object({
  components: z.object({
    messages: z.record(z.string(), z.object({ name: z.string() })),
    schemas: z.record(z.string(), z.unknown()),
  }),
});

export interface FrameSchemas {
  /** Whether the document lists the message. */
  has(messageId: string): boolean;
  /** Throws when the frame does not match the message. */
  check(messageId: string, frame: unknown): void;
}

/** Types of the frames that the document omits on purpose. */
export const UNLISTED_FRAMES: ReadonlySet<string> = new Set(
  serverFrames.flatMap((frame) => ('summary' in frame ? [] : [frame.type])),
);

/** Compiles the messages of an AsyncAPI document. */
export function frameSchemas(document: unknown): FrameSchemas {
  const { components } = documentSchema.parse(document);
  const ajv = new Ajv({ strict: false, allErrors: false });
  ajv.addSchema({ $id: 'asyncapi', ...z.looseObject({}).parse(document) });
  const has = (messageId: string) => Object.hasOwn(components.messages, messageId);
  return {
    has,
    check(messageId, frame) {
      if (!has(messageId)) throw new Error(`${messageId} is no message of /asyncapi.json`);
      const id = `asyncapi#/components/messages/${messageId}/payload`;
      const validate = ajv.getSchema(id) ?? ajv.compile({ $ref: id });
      if (validate(frame)) return;
      throw new Error(`${messageId}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(frame)}`);
    },
  };
}

/** Cached by the document's text: compiling is expensive, and most servers of a run publish the same document. */
const compiled = new Map<string, FrameSchemas>();

/** The schemas of a running server. */
export async function schemasOf(url: string, token: string): Promise<FrameSchemas> {
  const response = await fetch(`${url}/asyncapi.json`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  const known = compiled.get(text);
  if (known) return known;
  const schemas = frameSchemas(JSON.parse(text));
  compiled.set(text, schemas);
  return schemas;
}
