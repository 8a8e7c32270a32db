/** Approvals and questions that wait for an answer, as requests to the editor. */
import {
  RequestError,
  type AgentContext,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import {
  ApiError,
  coalesced,
  ConnectionError,
  MAIN_AGENT,
  reasonOf,
  type Approval,
  type Question,
  type Rest,
} from '@service-code/client';
import { callId, choicesOf, requestedCall } from './permissions.ts';
import { answersOf, formOf, messageOf } from './questions.ts';

export interface InteractionOptions {
  rest: Rest;
  sessionId: string;
  cwd: string;
  editor: AgentContext;
  /** Whether the editor displays forms. */
  hasForms: boolean;
  /** Whether the socket is open. */
  isConnected(): boolean;
  /** Resolves when the editor has the updates that precede a request. */
  flushed(): Promise<void>;
  emit(update: SessionUpdate): Promise<void>;
  log(text: string): void;
}

export interface Interactions {
  /** Requests what is new, and cancels requests that another client has answered. */
  refresh(): Promise<void>;
  /** Cancels all requests. */
  close(): void;
}

/** `interaction.already_resolved` of approvals and questions, `dismissed`, expired and unknown ones. */
const ENDED = [40404, 40405, 40902, 40909, 41001, 41002];
/** Until an approval or a question is requested again. */
const RETRY_MS = 1000;
const NO_ANSWER = 'The editor could not display the request for permission.';
const NO_FORMS = 'This editor cannot display questions, so it was dismissed. Answer it with your next prompt:';

export function createInteractions(options: InteractionOptions): Interactions {
  const { rest, sessionId: session_id, cwd, editor, emit } = options;
  /** Open requests by the id of the interaction. */
  const open = new Map<string, AbortController>();
  let isClosed = false;
  let retry: ReturnType<typeof setTimeout> | undefined;

  /** Runs until the editor has answered or the request was cancelled. */
  async function request(
    id: string,
    ask: (signal: AbortSignal) => Promise<void>,
    refuse: () => Promise<unknown>,
  ): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    try {
      await options.flushed();
      if (!controller.signal.aborted) await ask(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof ApiError && ENDED.includes(error.code)) return;
      options.log(`interaction ${id}: ${reasonOf(error)}`);
      const failure = error instanceof RequestError ? await failureOf(refuse) : error;
      if (failure === undefined) return;
      // The answer did not arrive: it is requested again.
      open.delete(id);
      retryLater(failure);
    }
  }

  /** Where the socket is lost too, its next connection leads to a refresh. */
  function retryLater(error: unknown): void {
    if (isClosed || !(error instanceof ConnectionError) || !options.isConnected()) return;
    clearTimeout(retry);
    retry = setTimeout(() => void refresh(), RETRY_MS);
  }

  /** Refuses what the editor cannot display. */
  async function failureOf(refuse: () => Promise<unknown>): Promise<unknown> {
    try {
      await refuse();
      return undefined;
    } catch (error) {
      options.log(`a refusal: ${reasonOf(error)}`);
      return error;
    }
  }

  async function askApproval(approval: Approval, signal: AbortSignal): Promise<void> {
    const choices = choicesOf(approval);
    const params: RequestPermissionRequest = {
      sessionId: session_id,
      toolCall: requestedCall(approval, cwd),
      options: choices.map(({ option }) => option),
    };
    const sent = { cancellationSignal: signal, stopWaitingOnCancel: true } as const;
    const { outcome } = await editor.request('session/request_permission', params, sent);
    const chosen =
      outcome.outcome === 'selected' ? choices.find((one) => one.option.optionId === outcome.optionId) : undefined;
    const answer = chosen?.answer ?? { decision: 'cancelled' };
    await rest.resolveApproval(session_id, approval.approval_id, answer);
    if (approval.agent_id === MAIN_AGENT) return;
    // The calls of a subagent are not displayed: this one has no later update.
    const toolCallId = callId(approval.agent_id, approval.tool_call_id);
    const status = answer.decision === 'approved' ? 'completed' : 'failed';
    await emit({ sessionUpdate: 'tool_call_update', toolCallId, status });
  }

  const reject = ({ approval_id }: Approval) =>
    rest.resolveApproval(session_id, approval_id, { decision: 'rejected', feedback: NO_ANSWER });

  async function askQuestion(question: Question, signal: AbortSignal): Promise<void> {
    const { question_id } = question;
    if (!options.hasForms) {
      const text = `${NO_FORMS}\n\n${messageOf(question)}\n`;
      await emit({ sessionUpdate: 'agent_message_chunk', messageId: question_id, content: { type: 'text', text } });
      return dismiss(question_id);
    }
    const { agent_id = MAIN_AGENT, tool_call_id } = question;
    const reply = await editor.request(
      'elicitation/create',
      {
        mode: 'form',
        sessionId: session_id,
        ...(tool_call_id !== undefined && { toolCallId: callId(agent_id, tool_call_id) }),
        message: messageOf(question),
        requestedSchema: formOf(question),
      },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    if (reply.action !== 'accept' || !('content' in reply)) return dismiss(question_id);
    const path = { session_id, question_id };
    const body = { answers: answersOf(question, reply.content) };
    await rest.request('POST /api/v1/sessions/{session_id}/questions/{question_id}', { path, body });
  }

  async function dismiss(question_id: string): Promise<void> {
    const path = { session_id, question_id };
    await rest.request('POST /api/v1/sessions/{session_id}/questions/{question_id}:dismiss', { path });
  }

  const refresh = coalesced(async () => {
    if (isClosed) return;
    try {
      const pending = { path: { session_id }, query: { status: 'pending' } } as const;
      const [approvals, questions] = await Promise.all([
        rest.request('GET /api/v1/sessions/{session_id}/approvals', pending),
        rest.request('GET /api/v1/sessions/{session_id}/questions', pending),
      ]);
      if (isClosed) return;
      const waiting = new Set<string>();
      for (const approval of approvals.items) {
        waiting.add(approval.approval_id);
        if (open.has(approval.approval_id)) continue;
        void request(
          approval.approval_id,
          (signal) => askApproval(approval, signal),
          () => reject(approval),
        );
      }
      for (const question of questions.items) {
        waiting.add(question.question_id);
        if (open.has(question.question_id)) continue;
        void request(
          question.question_id,
          (signal) => askQuestion(question, signal),
          () => dismiss(question.question_id),
        );
      }
      for (const [id, controller] of open) {
        if (waiting.has(id)) continue;
        open.delete(id);
        controller.abort();
      }
    } catch (error) {
      options.log(`interactions of ${session_id}: ${reasonOf(error)}`);
      retryLater(error);
    }
  });

  return {
    refresh,
    close() {
      isClosed = true;
      clearTimeout(retry);
      for (const controller of open.values()) controller.abort();
      open.clear();
    },
  };
}
