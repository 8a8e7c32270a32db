/** Runs one prompt in a session of a server, from its text to an exit code. Uses the public API alone. */
import type { Readable, Writable } from 'node:stream';
import {
  ApiError,
  ConnectionError,
  createClient,
  isUnauthorized,
  type Client,
  type EventFrame,
  type PermissionMode,
  type Session,
  type SocketConstructor,
} from '@service-code/client';
import { monotonicFactory } from 'ulid';
import { parseAnswer, readLines } from './answers.ts';
import { EXIT_CODES, RunError, type EndReason } from './exit-codes.ts';
import { createOutput, type Output } from './output.ts';
import { promptText } from './prompt-text.ts';
import { createRequestHandler, type DeniedCall, type RequestHandler } from './requests.ts';
import { attach, openSession, type SessionChoice } from './session.ts';
import { answerOf, followPrompt, type Turn, type Usage } from './turn.ts';

/** No usable model, an unknown one, an unknown session, or an invalid value. */
const BAD_USE = [40001, 40110, 40111, 40112, 40113, 40401, 40409, 40411];
/** Time in which a cancelled turn settles. */
const SETTLE_MS = 5000;

const newUlid = monotonicFactory();

export interface RunOptions extends SessionChoice {
  /** With a slash at the end. */
  url: string;
  token: string | undefined;
  WebSocket: SocketConstructor;
  prompt: string | undefined;
  model?: string | undefined;
  effort?: string | undefined;
  permissionMode: PermissionMode;
  files: readonly string[];
  timeoutMs?: number | undefined;
  json: boolean;
  approvals: 'deny' | 'stdin';
  allowDenied: boolean;
  /** Undefined for a terminal. */
  stdin: Readable | undefined;
  stdout: Writable;
  stderr: Writable;
  /** Aborted by the user. */
  signal: AbortSignal;
}

interface Result {
  reason: EndReason;
  message?: string | undefined;
  session?: Session;
  text: string;
  usage?: Usage;
  denied: readonly DeniedCall[];
  backgroundTasks: readonly string[];
}

/** Resolves to the exit code. */
export async function runPrompt(options: RunOptions): Promise<number> {
  const begun = performance.now();
  const cancel = new AbortController();
  const stop = (reason: EndReason) =>
    cancel.abort(new RunError(reason, reason === 'timeout' ? 'timed out' : 'cancelled'));
  const onSignal = () => stop('interrupted');
  options.signal.addEventListener('abort', onSignal);
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => stop('timeout'), options.timeoutMs);
  const output = createOutput({ ...options, onClosed: onSignal });
  const { url: baseUrl, token, WebSocket } = options;
  const client = createClient({ baseUrl, token: () => token, WebSocket });
  try {
    const result = await run(client, options, output, cancel.signal).catch(failed);
    output.answer(result.text);
    if (result.message !== undefined) output.note(`service-code: ${result.message}`);
    const reason = result.reason === 'completed' && result.denied.length > 0 ? 'denied' : result.reason;
    output.record({
      type: 'result',
      session_id: result.session?.id ?? null,
      reason,
      text: result.text,
      usage: result.usage ?? null,
      denied: result.denied,
      background_tasks: result.backgroundTasks.length,
      duration_ms: Math.round(performance.now() - begun),
      ...(result.message !== undefined && { message: result.message }),
    });
    if (!(await output.flushed())) return EXIT_CODES.interrupted;
    return reason === 'denied' && options.allowDenied ? EXIT_CODES.completed : EXIT_CODES[reason];
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onSignal);
    client.close();
  }
}

/** The result of a run that ended before its turn did. */
function failed(error: unknown): Result {
  const message = error instanceof Error ? error.message : String(error);
  const ended = { message, text: '', denied: [], backgroundTasks: [] };
  if (error instanceof RunError) return { ...ended, reason: error.reason };
  if (error instanceof ConnectionError || isUnauthorized(error)) return { ...ended, reason: 'unreachable' };
  const isBadUse = error instanceof ApiError && BAD_USE.includes(error.code);
  return { ...ended, reason: isBadUse ? 'bad_use' : 'failed' };
}

/** Rejects with the signal's reason as soon as it is aborted. */
const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      const onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new RunError('interrupted', ''));
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort);
    }),
  ]);

async function run(client: Client, options: RunOptions, output: Output, signal: AbortSignal): Promise<Result> {
  const { rest } = client;
  const text = await unlessAborted(
    signal,
    promptText({
      argument: options.prompt,
      piped: options.approvals === 'stdin' ? undefined : options.stdin,
      warn: output.note,
    }),
  );
  const session = await unlessAborted(signal, openSession(rest, options));
  output.record({
    type: 'session',
    session_id: session.id,
    workspace_id: session.workspace_id,
    cwd: session.metadata.cwd,
  });
  const files = await unlessAborted(signal, Promise.all(options.files.map((path) => attach(rest, path))));

  const promptId = `msg_${newUlid()}`;
  const requests = createRequestHandler({
    rest,
    sessionId: session.id,
    isAnswered: options.approvals === 'stdin',
    onError: (error) => output.note(`service-code: ${error instanceof Error ? error.message : String(error)}`),
  });
  const turn = await unlessAborted(
    signal,
    followPrompt(client, {
      sessionId: session.id,
      promptId,
      onEvent(frame, isOwn) {
        output.record(frame);
        if (isOwn) requests.onEvent(frame);
        if (isOwn) describe(frame, output);
      },
    }),
  );
  const lines =
    options.approvals === 'stdin' && options.stdin ? readAnswers(options.stdin, requests, output) : undefined;
  try {
    await rest.submitPrompt(session.id, {
      prompt_id: promptId,
      content: [{ type: 'text', text }, ...files],
      permission_mode: options.permissionMode,
      ...(options.model !== undefined && { model: options.model }),
      ...(options.effort !== undefined && { thinking: options.effort }),
    });
    const end = await unlessAborted(signal, turn.ended).catch(async (error: unknown) => {
      await settle(client, session.id, promptId, turn);
      if (error instanceof RunError) return { reason: error.reason, message: error.message };
      throw error;
    });
    return { ...(await resultOf(client, session, turn, output)), ...end, denied: requests.denied };
  } finally {
    lines?.close();
    turn.close();
  }
}

/** Cancels the prompt, and waits until it has settled. */
async function settle({ rest }: Client, sessionId: string, promptId: string, turn: Turn): Promise<void> {
  await rest.abortPrompt(sessionId, promptId).catch((error: unknown) => {
    // It has settled meanwhile, or the server has gone.
    if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([turn.ended, new Promise((resolve) => (timer = setTimeout(resolve, SETTLE_MS)))]);
  clearTimeout(timer);
}

/** The state of the session after the turn; empty where the server has gone. */
async function resultOf(client: Client, session: Session, turn: Turn, output: Output) {
  const found = { session, text: '', usage: turn.usage(), backgroundTasks: [] as string[] };
  try {
    const number = turn.number();
    if (number !== undefined) found.text = await answerOf(client.rest, session.id, number);
    const path = { session_id: session.id };
    const { items } = await client.rest.request('GET /api/v1/sessions/{session_id}/tasks', {
      path,
      query: { status: 'running' },
    });
    found.backgroundTasks = items.map(({ description }) => description);
    for (const name of found.backgroundTasks) output.note(`a background task is still running: ${name}`);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
  }
  return found;
}

/** One line for each call, and for each of the model's attempts that failed. */
function describe({ payload }: EventFrame, output: Output): void {
  if (payload.type === 'tool.call.started') output.note(`· ${payload.name} ${payload.description ?? ''}`.trimEnd());
  if (payload.type === 'turn.step.retrying') output.note(`retrying: ${payload.errorMessage}`);
}

function readAnswers(stdin: Readable, requests: RequestHandler, output: Output) {
  const report = (message: string) => output.record({ type: 'error', message });
  const onLine = (line: string) => {
    const answer = parseAnswer(line);
    if (typeof answer === 'string') return report(answer);
    requests.answer(answer).catch((error: unknown) => report(error instanceof Error ? error.message : String(error)));
  };
  // No program can answer any more.
  return readLines(stdin, onLine, () => requests.denyAll());
}
