/** Answers the approvals and questions of a run: rejects them, or passes them to the program that runs it. */
import { ApiError, type Display, type EventFrame, type Rest } from '@service-code/client';
import type { AnswerLine } from './answers.ts';

/** Codes of an answer that comes after another client's, or after the end. */
const ANSWERED = [40902, 40404, 40405, 41001, 41002];
const DISMISSED = 40909;
const FEEDBACK =
  'This session runs without a person who could approve calls. Do not repeat the call; continue without it.';

export interface DeniedCall {
  tool: string;
  subject: string;
}

/** The part of a call that a person would read first. */
function subjectOf(action: string, display: Display): string {
  switch (display.kind) {
    case 'command':
      return display.command;
    case 'file_io':
    case 'diff':
      return display.path;
    case 'url_fetch':
      return display.url;
    default:
      return action;
  }
}

export interface RequestHandler {
  readonly denied: readonly DeniedCall[];
  /** Receives the events of the run's own turn. */
  onEvent(frame: EventFrame): void;
  /** An answer of the program that runs this one; throws ApiError when the server refuses it. */
  answer(line: AnswerLine): Promise<void>;
  /** From now on each request is rejected, as are the pending ones. */
  denyAll(): void;
}

export interface RequestOptions {
  rest: Rest;
  sessionId: string;
  /** Whether the program that runs this one answers. */
  isAnswered: boolean;
  onError(error: unknown): void;
}

export function createRequestHandler({ rest, sessionId, isAnswered, onError }: RequestOptions): RequestHandler {
  const denied: DeniedCall[] = [];
  const pending = new Map<string, () => Promise<void>>();
  const calls = new Map<string, DeniedCall>();
  let denies = !isAnswered;

  const dismiss = (question_id: string) =>
    rest
      .request('POST /api/v1/sessions/{session_id}/questions/{question_id}:dismiss', {
        path: { session_id: sessionId, question_id },
      })
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== DISMISSED) throw error;
      });

  function run(refuse: () => Promise<void>) {
    refuse().catch((error: unknown) => {
      if (!(error instanceof ApiError) || !ANSWERED.includes(error.code)) onError(error);
    });
  }

  function onRequest(id: string, refuse: () => Promise<void>) {
    if (denies) run(refuse);
    else pending.set(id, refuse);
  }

  return {
    denied,
    onEvent({ payload }) {
      if (payload.type === 'event.approval.requested') {
        const { approval_id: id, tool_name: tool, action, tool_input_display: display } = payload;
        calls.set(id, { tool, subject: subjectOf(action, display) });
        onRequest(id, async () => {
          await rest.resolveApproval(sessionId, id, { decision: 'rejected', feedback: FEEDBACK });
        });
      } else if (payload.type === 'event.approval.resolved') {
        pending.delete(payload.approval_id);
        const call = calls.get(payload.approval_id);
        if (call && payload.decision !== 'approved') denied.push(call);
        calls.delete(payload.approval_id);
      } else if (payload.type === 'event.question.requested') {
        const { question_id: id } = payload;
        onRequest(id, async () => void (await dismiss(id)));
      } else if (payload.type === 'event.question.answered' || payload.type === 'event.question.dismissed') {
        pending.delete(payload.question_id);
      }
    },
    async answer(line) {
      if ('approval_id' in line) {
        const { approval_id, ...body } = line;
        await rest.resolveApproval(sessionId, approval_id, body);
      } else if (line.answers === undefined) await dismiss(line.question_id);
      else {
        await rest.request('POST /api/v1/sessions/{session_id}/questions/{question_id}', {
          path: { session_id: sessionId, question_id: line.question_id },
          body: { answers: line.answers },
        });
      }
    },
    denyAll() {
      denies = true;
      for (const refuse of pending.values()) run(refuse);
      pending.clear();
    },
  };
}
