/** Runs one prompt in a session of a server, from its text to an exit code. Uses the public API alone. */
import type { Readable } from 'node:stream';
import {
  ApiError,
  createClient,
  reasonOf,
  type Client,
  type ClientOptions,
  type EventFrame,
  type PermissionMode,
  type Session,
} from '@service-code/client';
import { monotonicFactory } from 'ulid';
import { parseAnswer, readLines } from './answers.ts';
import { exitCodeOf, INTERRUPTED, reasonOfError, RunError, type EndReason } from './exit-codes.ts';
import { createOutput, type Output, type OutputOptions } from './output.ts';
import { promptText } from './prompt-text.ts';
import { createRequestHandler, type RequestHandler } from './requests.ts';
import { failedResult, resultLine, type Result } from './result.ts';
import { attach, openSession, type SessionChoice } from './session.ts';
import { settlePrompt, unlessAborted } from './settle.ts';
import { answerOf, followPrompt, type PendingRequests, type Turn } from './turn.ts';

const newUlid = monotonicFactory();
/** A server that does not answer must not delay the end. */
const ARCHIVE_MS = 10_000;

export interface RunOptions
  extends SessionChoice, Pick<ClientOptions, 'fetch' | 'WebSocket'>, Omit<OutputOptions, 'onClosed'> {
  /** With a slash at the end. */
  url: string;
  token: string | undefined;
  prompt: string | undefined;
  model?: string | undefined;
  effort?: string | undefined;
  permissionMode: PermissionMode;
  files: readonly string[];
  timeoutMs?: number | undefined;
  approvals: 'deny' | 'stdin';
  allowDenied: boolean;
  /** Undefined for a terminal. */
  stdin: Readable | undefined;
  /** Aborted by the user. */
  signal: AbortSignal;
}

/** Resolves to the exit code. */
export async function runPrompt(options: RunOptions): Promise<number> {
  const begun = performance.now();
  const cancel = new AbortController();
  const stop = (reason: EndReason) =>
    cancel.abort(new RunError(reason, reason === 'timeout' ? 'timed out' : 'interrupted'));
  const onSignal = () => stop('interrupted');
  options.signal.addEventListener('abort', onSignal);
  if (options.signal.aborted) onSignal();
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => stop('timeout'), options.timeoutMs);
  const output = createOutput({ ...options, onClosed: onSignal });
  try {
    const result = await run(options, output, cancel.signal).catch((error: unknown) =>
      failedResult(reasonOfError(error), reasonOf(error)),
    );
    const { reason, message, text, denied } = result;
    if (reason === 'completed') output.answer(text);
    if (message !== undefined) output.note(`service-code: ${message}`);
    output.record(resultLine(result, begun));
    if (!(await output.flushed(options.signal))) return INTERRUPTED;
    return exitCodeOf(reason, denied.length > 0 && !options.allowDenied);
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onSignal);
  }
}

async function run(options: RunOptions, output: Output, signal: AbortSignal): Promise<Result> {
  const piped = options.approvals === 'stdin' ? undefined : options.stdin;
  const text = await unlessAborted(signal, promptText({ argument: options.prompt, piped, warn: output.note }));
  const { url: baseUrl, token } = options;
  const client = createClient({ ...options, baseUrl, token: () => token });
  try {
    return await runText(client, text, options, output, signal);
  } finally {
    client.close();
  }
}

async function runText(
  client: Client,
  text: string,
  options: RunOptions,
  output: Output,
  signal: AbortSignal,
): Promise<Result> {
  const { rest } = client;
  const files = await unlessAborted(signal, Promise.all(options.files.map((path) => attach(rest, path))));
  const session = await unlessAborted(signal, openSession(rest, options));
  const isNew = options.session === undefined && !options.continues;
  output.record({
    type: 'session',
    session_id: session.id,
    workspace_id: session.workspace_id,
    cwd: session.metadata.cwd,
  });
  const promptId = `msg_${newUlid()}`;
  const requests = createRequestHandler({
    rest,
    sessionId: session.id,
    isAnswered: options.approvals === 'stdin',
    onError: (error) => output.note(`service-code: ${reasonOf(error)}`),
  });
  const onEvent = (frame: EventFrame, isOwn: boolean) => {
    output.record(frame);
    if (!isOwn) return;
    requests.onEvent(frame);
    describe(frame, output);
  };
  // The program that answers reads requests as events.
  const record = (type: string, request: object) =>
    output.record({ type, session_id: session.id, payload: { type, ...request } });
  const onPending = ({ approvals, questions }: PendingRequests) => {
    for (const one of approvals) if (requests.onApproval(one)) record('event.approval.requested', one);
    for (const one of questions) if (requests.onQuestion(one)) record('event.question.requested', one);
  };
  const followed = followPrompt(client, { sessionId: session.id, promptId, text, isNew, onEvent, onPending });
  const turn = await unlessAborted(signal, followed).catch(async (error: unknown) => {
    if (isNew) await archive(rest, session.id, output);
    throw error;
  });
  const lines =
    options.approvals === 'stdin' && options.stdin ? readAnswers(options.stdin, requests, output) : undefined;
  const submitted = rest.submitPrompt(session.id, {
    prompt_id: promptId,
    content: [{ type: 'text', text }, ...files],
    permission_mode: options.permissionMode,
    ...(options.model !== undefined && { model: options.model }),
    ...(options.effort !== undefined && { thinking: options.effort }),
  });
  try {
    const end = await unlessAborted(
      signal,
      submitted.then((prompt) => {
        turn.accepted(prompt);
        return turn.ended;
      }),
    );
    return { ...(await resultOf(client, session, turn, output)), ...end, denied: requests.denied };
  } catch (error) {
    // Approvals that the cancellation resolves were not denied.
    const denied = [...requests.denied];
    // The server has refused the prompt, so an empty session would stay.
    if (error instanceof ApiError && isNew) await archive(rest, session.id, output);
    else await settlePrompt(rest, session.id, submitted, turn);
    const end = { reason: reasonOfError(error), message: reasonOf(error) };
    return { ...(await resultOf(client, session, turn, output)), ...end, denied };
  } finally {
    lines?.close();
    turn.close();
  }
}

async function archive(rest: Client['rest'], session_id: string, output: Output): Promise<void> {
  // The reason of the run's end is more important than a session that stays.
  const onFailure = (error: unknown) => output.note(`the empty session ${session_id} stays: ${reasonOf(error)}`);
  await rest.archiveMany([session_id], { signal: AbortSignal.timeout(ARCHIVE_MS) }).catch(onFailure);
}

/** The state of the session after the turn; empty where the server does not answer any more. */
async function resultOf({ rest }: Client, session: Session, turn: Turn, output: Output) {
  const found = { session, text: '', usage: turn.usage(), backgroundTasks: [] as string[] };
  const signal = AbortSignal.timeout(10_000);
  try {
    const number = turn.number();
    if (number === undefined) return found;
    found.text = await answerOf(rest, session.id, number, signal);
    const path = { session_id: session.id };
    const query = { status: 'running' } as const;
    const { items } = await rest.request('GET /api/v1/sessions/{session_id}/tasks', { path, query, signal });
    found.backgroundTasks = items.map(({ description }) => description);
    for (const name of found.backgroundTasks) output.note(`a background task is still running: ${name}`);
  } catch (error) {
    output.note(`service-code: cannot read the result: ${reasonOf(error)}`);
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
    requests.answer(answer).catch((error: unknown) => report(reasonOf(error)));
  };
  // No program can answer any more.
  return readLines(stdin, onLine, () => requests.denyAll());
}
