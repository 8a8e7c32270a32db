/** An editor for tests: the SDK's client, with everything that it has received. */
import type { Readable, Writable } from 'node:stream';
import { ReadableStream, WritableStream } from 'node:stream/web';
import {
  client,
  ndJsonStream,
  type ClientCapabilities,
  type ClientConnection,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';

type Update<T extends SessionUpdate['sessionUpdate']> = Extract<SessionUpdate, { sessionUpdate: T }>;

export interface Editor {
  connection: ClientConnection;
  agent: ClientConnection['agent'];
  /** All updates, oldest first. */
  updates: { sessionId: string; update: SessionUpdate }[];
  updatesOf<T extends SessionUpdate['sessionUpdate']>(type: T, sessionId?: string): Update<T>[];
  /** The chunks of one kind, joined. */
  text(type: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk', sessionId?: string): string;
  /** The last state of a call. */
  call(toolCallId: string): Partial<Update<'tool_call'>>;
  permissions: RequestPermissionRequest[];
  questions: CreateElicitationRequest[];
  /** Requests that the bridge has cancelled. */
  cancelled: number;
  /** Answers requests of permission; default: never. */
  permit(
    answer: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse> | RequestPermissionResponse,
  ): void;
  elicit(answer: (request: CreateElicitationRequest) => Promise<CreateElicitationResponse>): void;
  open(cwd: string): Promise<string>;
  prompt(sessionId: string, prompt: string | ContentBlock[]): Promise<string>;
}

/** Selects the option of a request by its kind. */
export const choose =
  (kind: string) =>
  ({ options }: RequestPermissionRequest): RequestPermissionResponse => {
    const option = options.find((one) => one.kind === kind);
    return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
  };

export async function connectEditor(
  input: Readable,
  output: Writable,
  clientCapabilities: ClientCapabilities = { elicitation: { form: {} } },
): Promise<Editor> {
  const editor = attach(input, output);
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities });
  return editor;
}

/** Connects without a request. */
export function attach(input: Readable, output: Writable): Editor {
  const updates: Editor['updates'] = [];
  const permissions: RequestPermissionRequest[] = [];
  const questions: CreateElicitationRequest[] = [];
  let permit: (
    request: RequestPermissionRequest,
  ) => Promise<RequestPermissionResponse> | RequestPermissionResponse = () => new Promise(() => {});
  let elicit: (request: CreateElicitationRequest) => Promise<CreateElicitationResponse> = () => new Promise(() => {});
  let cancelled = 0;

  const counted = <T>(signal: AbortSignal, answer: Promise<T> | T): Promise<T> => {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        cancelled += 1;
        reject(signal.reason);
      });
    });
    return Promise.race([answer, aborted]);
  };

  const write = (chunk: Uint8Array) =>
    new Promise<void>((resolve, reject) => output.write(chunk, (error) => (error ? reject(error) : resolve())));
  const stream = ndJsonStream(new WritableStream({ write }), ReadableStream.from(input));
  const connection = client({ name: 'test editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params))
    .onRequest('session/request_permission', ({ params, signal }) => {
      permissions.push(params);
      return counted(signal, permit(params));
    })
    .onRequest('elicitation/create', ({ params, signal }) => {
      questions.push(params);
      return counted(signal, elicit(params));
    })
    .connect(stream);
  const { agent } = connection;

  function updatesOf<T extends SessionUpdate['sessionUpdate']>(type: T, sessionId?: string): Update<T>[] {
    const isOfType = (update: SessionUpdate): update is Update<T> => update.sessionUpdate === type;
    return updates
      .filter((one) => sessionId === undefined || one.sessionId === sessionId)
      .map(({ update }) => update)
      .filter(isOfType);
  }

  return {
    connection,
    agent,
    updates,
    updatesOf,
    text: (type, sessionId) =>
      updatesOf(type, sessionId)
        .map(({ content }) => (content.type === 'text' ? content.text : `[${content.type}]`))
        .join(''),
    call(toolCallId) {
      const state: Partial<Update<'tool_call'>> = {};
      for (const { update } of updates) {
        if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') continue;
        if (update.toolCallId === toolCallId) Object.assign(state, update);
      }
      return state;
    },
    permissions,
    questions,
    get cancelled() {
      return cancelled;
    },
    permit: (answer) => void (permit = answer),
    elicit: (answer) => void (elicit = answer),
    async open(cwd) {
      return (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId;
    },
    async prompt(sessionId, prompt) {
      const blocks: ContentBlock[] = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt;
      return (await agent.request('session/prompt', { sessionId, prompt: blocks })).stopReason;
    },
  };
}
