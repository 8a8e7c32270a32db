/** Sending that waits until the server answers and the files of the prompt are uploaded. */
import { computed, shallowRef, watch, type Ref } from 'vue';
import type { Connection } from '@service-code/client';
import { message, type Message } from '../messages/messages.ts';
import type { Draft } from './drafts.ts';

export interface HeldSendDeps {
  connection: Readonly<Ref<Connection>>;
  attachments: Pick<Draft['attachments'], 'list'>;
  /** Must not reject. */
  send(): Promise<void>;
}

/** To be called in the setup of a component: what waits is not sent after it is unmounted. */
export function useHeldSend({ connection, attachments, send }: HeldSendDeps) {
  const isHeld = shallowRef(false);

  const obstacle = computed((): Message | undefined => {
    if (connection.value.kind !== 'open') return message('drafts.waits-for-server');
    const states = attachments.list.value.map(({ state }) => state.kind);
    if (states.includes('failed')) return message('drafts.file-failed');
    return states.every((state) => state === 'ready') ? undefined : message('drafts.waits-for-files');
  });

  watch([isHeld, obstacle], () => {
    if (!isHeld.value || obstacle.value) return;
    isHeld.value = false;
    void send();
  });

  return {
    /** Why the requested sending waits; undefined if none was requested. */
    reason: computed(() => (isHeld.value ? obstacle.value : undefined)),
    /** Sends now or later. */
    request: () => void (isHeld.value = true),
    cancel: () => void (isHeld.value = false),
  };
}
