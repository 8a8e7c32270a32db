/** One session of a world with its events, for tests of turns. */
import type { Script } from './model-server.ts';
import type { World } from './world.ts';
import type { ReceivedFrame, WsClient } from './ws-client.ts';
import type { Approval } from '#schema/rest/interaction.ts';
import type { Message } from '#schema/rest/message.ts';
import type { Prompt } from '#schema/rest/prompt.ts';
import type { Session, SessionStatus } from '#schema/rest/session.ts';

export interface Talk {
  session: Session;
  /** `/sessions/<id>` */
  path: string;
  events: WsClient;
  /** Enqueues the model's answers and submits a text prompt. */
  prompt(text: string, scripts?: Script[], more?: Record<string, unknown>): Promise<Prompt>;
  /** Like `prompt`, then waits until it has settled. */
  turn(text: string, scripts?: Script[], more?: Record<string, unknown>): Promise<Turn>;
  /** The event that settled a prompt: `prompt.completed` or `prompt.aborted`. */
  settled(promptId: string): Promise<ReceivedFrame>;
  /** The n-th approval of the session, counted from 1, when it has been requested. */
  approval(n?: number): Promise<Approval>;
  answer(approvalId: string, body: Record<string, unknown>): Promise<unknown>;
  /** Durable frames of a type, in order. */
  all(type: string): ReceivedFrame[];
  /** Resolves when `n` durable frames of a type have arrived; returns the last of them. */
  nth(type: string, n: number): Promise<ReceivedFrame>;
  messages(): Promise<Message[]>;
  status(): Promise<SessionStatus>;
}

export interface Turn {
  prompt: Prompt;
  /** Durable frames from `prompt.submitted` on. */
  frames: ReceivedFrame[];
  ended: ReceivedFrame['payload'];
  /** Outputs of the tool results, in the order of the events. */
  results: { toolCallId: string; output: string; isError: boolean }[];
}

export const call = (name: string, args: unknown, id?: string): NonNullable<Script['calls']>[number] =>
  id === undefined ? { name, args } : { name, args, id };

/** A response with one call, and another that completes the turn. */
export const callThenText = (name: string, args: unknown): Script[] => [
  { calls: [call(name, args)] },
  { text: 'Done.' },
];

/** Opens a session and watches it from its first event. */
export async function startTalk(world: World, body?: Record<string, unknown>): Promise<Talk> {
  return resumeTalk(world, await world.session(body));
}

/** Watches an existing session from its first event. */
export async function resumeTalk(world: World, session: Session): Promise<Talk> {
  const events = await world.watch(session.id);
  const path = `/sessions/${session.id}`;
  const durable = () => events.durable(session.id);
  const all = (type: string) => durable().filter((frame) => frame.type === type);

  async function nth(type: string, n: number): Promise<ReceivedFrame> {
    await events.waitFor(() => all(type).length >= n);
    const frame = all(type)[n - 1];
    if (!frame) throw new Error(`no ${n}. ${type}`);
    return frame;
  }

  const settled = (promptId: string) =>
    events.waitFor(
      ({ type, payload }) =>
        (type === 'prompt.completed' || type === 'prompt.aborted') && payload.promptId === promptId,
    );

  async function prompt(text: string, scripts: Script[] = [], more: Record<string, unknown> = {}): Promise<Prompt> {
    for (const script of scripts) world.model.enqueue(script);
    return world.prompt(session.id, text, more);
  }

  return {
    session,
    path,
    events,
    prompt,
    settled,
    all,
    nth,
    async turn(text, scripts, more) {
      const submitted = await prompt(text, scripts, more);
      await settled(submitted.prompt_id);
      const whole = durable();
      const start = whole.findIndex(
        ({ type, payload }) => type === 'prompt.submitted' && payload.promptId === submitted.prompt_id,
      );
      const frames = whole.slice(start);
      return {
        prompt: submitted,
        frames,
        ended: frames.find((frame) => frame.type === 'turn.ended')?.payload ?? {},
        results: frames
          .filter((frame) => frame.type === 'tool.result')
          .map(({ payload }) => ({
            toolCallId: String(payload.toolCallId),
            output: String(payload.output),
            isError: payload.isError === true,
          })),
      };
    },
    async approval(n = 1) {
      const { payload } = await nth('event.approval.requested', n);
      const found = (await world.approvals(session.id)).find((one) => one.approval_id === payload.approval_id);
      if (!found) throw new Error(`approval ${n} is not pending`);
      return found;
    },
    answer: (approvalId, body) => world.ok('POST', `${path}/approvals/${approvalId}`, body),
    messages: () => world.messages(session.id),
    status: async () => (await world.ok('GET', `${path}/status`)) as unknown as SessionStatus,
  };
}

/** The messages of a chat-completions request body, in wire order. */
export interface WireMessage {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** Messages of the n-th request that reached the model, counted from 1; negative counts from the end. */
export function wireMessages(world: World, n: number): WireMessage[] {
  const body = world.model.requests.at(n > 0 ? n - 1 : n)?.body;
  return (body?.messages ?? []) as WireMessage[];
}

/** All text of a wire message. */
export function wireText({ content }: WireMessage): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: string }) => part.text ?? '').join('');
}

/** The system prompt of the last request that reached the model. */
export const systemPrompt = (world: World): string => wireText(wireMessages(world, -1)[0] ?? { role: '' });
