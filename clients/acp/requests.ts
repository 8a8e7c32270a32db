/** Prompts and activations of skills as they are sent to the server. */
import { ApiError, ConnectionError, type ContentPart, type Rest } from '@service-code/client';
import { ulid } from 'ulid';
import { textOf, type Command } from './commands.ts';
import type { PromptRequest } from './prompts.ts';
import type { ServerLink } from './server-link.ts';

/** `prompt.id_conflict`: the first attempt has arrived. */
const ARRIVED = 40927;
/** `prompt.already_completed`: it has arrived, and has ended. */
const COMPLETED = 40903;

interface Target {
  link: ServerLink;
  sessionId: string;
  /** Called before a prompt is sent. */
  prepare(): Promise<void>;
}

export function promptRequest({ link, sessionId, prepare }: Target, content: ContentPart[]): PromptRequest {
  const { rest } = link.client;
  const prompt_id = `msg_${ulid()}`;
  const body = { prompt_id, content };

  return {
    id: prompt_id,
    text: textOf(content),
    async submit(signal) {
      await link.ready(signal);
      await prepare();
      try {
        await rest.submitPrompt(sessionId, body);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        await link.ready(signal);
        try {
          await rest.submitPrompt(sessionId, body);
        } catch (again) {
          const code = again instanceof ApiError ? again.code : undefined;
          if (code === COMPLETED) return { hasEnded: true };
          if (code !== ARRIVED) throw again;
        }
      }
      return { hasEnded: false };
    },
    abort: (id) => abort(rest, sessionId, id),
  };
}

export function skillRequest(
  { link, sessionId, prepare }: Target,
  { name, args, attachments }: Extract<Command, { kind: 'skill' }>,
): PromptRequest {
  const { rest } = link.client;
  const path = { session_id: sessionId, skill_name: name };
  const body = { ...(args !== '' && { args }), ...(attachments.length > 0 && { attachments }) };

  return {
    id: undefined,
    text: args === '' ? `/${name}` : `/${name} ${args}`,
    async submit(signal) {
      await link.ready(signal);
      await prepare();
      await rest.request('POST /api/v1/sessions/{session_id}/skills/{skill_name}:activate', { path, body });
      return { hasEnded: false };
    },
    abort: (id) => abort(rest, sessionId, id),
  };
}

/** Cancels a prompt; without an id the running turn. */
async function abort(rest: Rest, sessionId: string, promptId: string | undefined): Promise<void> {
  if (promptId === undefined) await rest.abort(sessionId);
  else await rest.abortPrompt(sessionId, promptId);
}
