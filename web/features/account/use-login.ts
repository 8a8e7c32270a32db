/** The login that runs, also one that was started in another window. */
import { computed, onScopeDispose, shallowRef, watch } from 'vue';
import type { LoginFlow } from '@service-code/client';
import { useAction } from '../../stores/action.ts';
import { useGlobalState } from '../../stores/global-state.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import { deadlineOf, type Region } from './login.ts';
import { cancelLogin, readLogin, startLogin } from './requests.ts';

const SECOND_MS = 1000;

/** `onChange` is called when a login has ended, and after one that needed no code. */
export function useLogin(onChange: () => void) {
  const { client } = useWorkbench();
  const { isBusy, failure, run } = useAction();
  const now = shallowRef(Date.now());
  /** Ids of the logins that were pending while this view was open. */
  const seen = shallowRef<ReadonlySet<string>>(new Set());
  const deadline = shallowRef(0);

  const { value: flow, refresh } = useGlobalState<LoginFlow | null>({
    load: () => readLogin(client.rest),
    on: ['event.config.changed'],
  });
  const pending = computed(() => (flow.value?.status === 'pending' ? flow.value : undefined));

  let poll: ReturnType<typeof setInterval> | undefined;
  let tick: ReturnType<typeof setInterval> | undefined;
  function stop() {
    clearInterval(poll);
    clearInterval(tick);
  }
  onScopeDispose(stop);

  // A code that was replaced has another end, under the same id.
  watch([() => pending.value?.flow_id, () => pending.value?.expires_at], ([id], [before]) => {
    stop();
    now.value = Date.now();
    if (pending.value) {
      seen.value = new Set([...seen.value, pending.value.flow_id]);
      deadline.value = deadlineOf(pending.value, now.value);
      poll = setInterval(() => void refresh(), pending.value.interval * SECOND_MS);
      tick = setInterval(() => (now.value = Date.now()), SECOND_MS);
    } else if (id === undefined && before !== undefined) onChange();
  });

  return {
    pending,
    /** A login that has ended while the view was open, or before. */
    ended: computed(() => (flow.value && !pending.value ? flow.value : undefined)),
    wasSeen: (id: string) => seen.value.has(id),
    /** Until the code ends, in ms. */
    left: computed(() => deadline.value - now.value),
    isBusy,
    failure,
    start: (region: Region | undefined) =>
      run(async () => {
        const { status } = await startLogin(client.rest, region);
        await refresh();
        if (status === 'authenticated') onChange();
      }),
    cancel: () =>
      run(async () => {
        await cancelLogin(client.rest);
        await refresh();
      }),
  };
}
