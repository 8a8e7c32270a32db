/** Sends what the composer has: as a prompt, in the form that a feature gives it, or into the running turn. */
import { shallowRef } from 'vue';
import { createPromptSender } from '@service-code/client';
import { message, type Message } from '../messages/messages.ts';
import { runningTurn } from '../state/session-view.ts';
import type { OpenSession } from '../stores/session.ts';
import { useWorkbench } from '../stores/workbench.ts';
import { steerPrompt } from './steer.ts';

/** To be called in the setup of a component. */
export function useSend(session: OpenSession) {
  const { client, features } = useWorkbench();
  const sendPrompt = createPromptSender(client.rest, session.id);
  const { draft, attachments } = session;
  const isSending = shallowRef(false);
  /** Why the last attempt failed; the text stays for a retry. */
  const failure = shallowRef<unknown>();
  /** A remark about the last prompt that was sent. */
  const note = shallowRef<Message>();

  async function steer(promptId: string) {
    if (!(await steerPrompt(client.rest, session.id, promptId))) note.value = message('composer.not-steered');
  }

  async function attempt(isSteer: boolean) {
    const text = draft.value;
    const files = attachments.list.value.map(({ key }) => key);
    const parts = attachments.parts();
    const content = text.trim() ? [...parts, { type: 'text' as const, text }] : parts;
    const typed = { rest: client.rest, sessionId: session.id, text, attachments: parts };
    const steers = isSteer && runningTurn(session.view.value.main) !== undefined;
    // Sent again unchanged, it is the same prompt.
    const promptId = (await features.sendTyped(typed)) ? undefined : await sendPrompt(content);
    // A text or file that was added meanwhile stays.
    if (draft.value === text) draft.value = '';
    attachments.sent(files);
    session.sent.value += 1;
    if (steers && promptId !== undefined) await steer(promptId);
  }

  return {
    isSending,
    failure,
    note,
    async send(isSteer: boolean): Promise<void> {
      if (isSending.value) return;
      isSending.value = true;
      failure.value = undefined;
      note.value = undefined;
      try {
        await attempt(isSteer);
      } catch (error) {
        failure.value = error;
      }
      isSending.value = false;
    },
    async stop(): Promise<void> {
      failure.value = undefined;
      try {
        await client.rest.abort(session.id);
      } catch (error) {
        failure.value = error;
      }
    },
  };
}
