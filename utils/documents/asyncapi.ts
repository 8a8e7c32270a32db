/** `/asyncapi.json`: the WebSocket as AsyncAPI 3.1.0, made from the schemas that run. */
import * as z from 'zod';
import { WEBSOCKET_PATH } from '#server/auth/guard.ts';
import { durableEvents, globalEvents, volatileEvents, volatileGlobalEvents } from '#schema/events/catalogue.ts';
import { ackSchema, frameId, requestFrames } from '#schema/frames/request-frames.ts';
import { eventLikeFrames, serverFrames } from '#schema/frames/server-frames.ts';
import { rewriteSchema, type JsonSchema } from '#schema/json-schema.ts';
import { count, isoTime } from '#schema/scalars.ts';

interface Message {
  name: string;
  title: string;
  summary: string;
  contentType: 'application/json';
  payload: JsonSchema;
}

export interface AsyncApiInputs {
  version: string;
  /** Bind host, without a port. */
  host: string;
  /** Without a final slash; empty: none. */
  basePath?: string;
  /** Whether the server speaks TLS. */
  secure?: boolean;
}

const CHANNEL = 'serviceCodeWebSocket';

/** Events that the transport makes carry no `time`. */
function timeMember(type: string): { time?: z.ZodType } {
  const untimed =
    ['agent.created', 'agent.disposed', 'session.meta.updated'].includes(type) || type.startsWith('event.');
  if (untimed) return {};
  const ms = z.number().int();
  return { time: type === 'agent.status.updated' ? ms.optional() : ms };
}

function eventPayload([type, fields]: [string, z.ZodType]): z.ZodType {
  const common = { type: z.literal(type), ...timeMember(type), agentId: z.string(), sessionId: z.string() };
  // The recursive payload of `error` is no plain object schema.
  return fields instanceof z.ZodObject ? fields.extend(common) : z.intersection(fields, z.object(common));
}

/** One schema for all event frames. */
function eventFrameSchema(): z.ZodObject {
  const events = { ...durableEvents, ...volatileEvents, ...globalEvents, ...volatileGlobalEvents };
  return z.object({
    type: z.string(),
    seq: count,
    session_id: z.string().optional(),
    timestamp: isoTime,
    payload: z.union([
      ...Object.entries<z.ZodType>(events).map(eventPayload),
      ...eventLikeFrames.map(({ payload }) => payload),
    ]),
    epoch: z.string().optional(),
    volatile: z.literal(true).optional(),
    offset: count.optional(),
  });
}

const messageId = (type: string) => type.replaceAll(/[^A-Za-z0-9]+/g, '_');

const title = (name: string) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');

/** Builds the document; takes some ten milliseconds. */
export function asyncApiDocument({ version, host, basePath = '', secure = false }: AsyncApiInputs) {
  const address = `${basePath}${WEBSOCKET_PATH}`;
  const schemas: Record<string, unknown> = {};
  const messages: Record<string, Message> = {};

  function add(name: string, summary: string, schema: z.ZodType): string {
    const id = messageId(name);
    // Names that zod made up get the message's id in front.
    const rename = (definition: string) => definition.replace(/^__/, `${id}_`);
    const located = (value: unknown) =>
      rewriteSchema(value, '#/definitions/', (name) => `#/components/schemas/${rename(name)}`);
    // The input side leaves objects open: clients must expect members that this version does not know.
    const json = z.toJSONSchema(schema, { target: 'draft-7', io: 'input', unrepresentable: 'any' });
    const { $schema: _dialect, definitions, ...payload } = json;
    for (const [definition, body] of Object.entries(definitions ?? {})) {
      schemas[rename(definition)] = located(body);
    }
    messages[id] = { name, title: title(name), summary, contentType: 'application/json', payload: located(payload) };
    return id;
  }

  const clientIds: string[] = [];
  const ackIds: string[] = [];
  for (const frame of requestFrames) {
    if (!('ack' in frame)) continue;
    const { type, summary, payload } = frame;
    const hasRequired = !payload.safeParse({}).success;
    const request = z.object({
      type: z.literal(type),
      id: frameId.optional(),
      payload: hasRequired ? payload : payload.optional(),
    });
    clientIds.push(add(type, summary, request));
    ackIds.push(add(`${type}.ack`, `Answer to ${type}.`, ackSchema(frame)));
  }
  const serverIds = [
    ...serverFrames.flatMap((frame) => ('summary' in frame ? add(frame.type, frame.summary, frame.schema) : [])),
    add('session_event', 'An event of a session or of the global stream.', eventFrameSchema()),
  ];

  const reference = (id: string) => ({ $ref: `#/components/messages/${id}` });
  const operation = (action: 'receive' | 'send', summary: string, ids: string[]) => ({
    action,
    channel: { $ref: `#/channels/${CHANNEL}` },
    summary,
    messages: ids.map(reference),
  });
  const all = [...clientIds, ...serverIds, ...ackIds];

  return {
    asyncapi: '3.1.0',
    info: {
      title: 'Service Code WebSocket API',
      version,
      description: 'Live events of sessions, and a few requests.',
    },
    defaultContentType: 'application/json',
    servers: { local: { host, protocol: secure ? 'wss' : 'ws', pathname: address, description: 'This server.' } },
    channels: {
      [CHANNEL]: {
        address,
        servers: [{ $ref: '#/servers/local' }],
        messages: Object.fromEntries(all.map((id) => [id, reference(id)])),
      },
    },
    operations: {
      receiveClientMessages: operation('receive', 'Frames that clients send.', clientIds),
      sendServerMessages: operation('send', 'Frames that the server sends.', [...serverIds, ...ackIds]),
    },
    components: { messages, schemas },
  };
}
