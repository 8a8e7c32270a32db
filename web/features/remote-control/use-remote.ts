/** The state of remote control, followed while it changes. */
import { computed, onScopeDispose, shallowRef, watch } from 'vue';
import { isUnauthorized } from '@service-code/client';
import { useGlobalState } from '../../stores/global-state.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import { failureOf, stateOf, type Failure } from './remote.ts';
import { readStatus, switchRemote } from './requests.ts';

/** No event reports its changes. */
const POLL_MS = 2000;

export function useRemote() {
  const { client, report } = useWorkbench();
  const failure = shallowRef<Failure>();
  /** Number of switches whose reply is awaited; a start is answered late, and may be cancelled meanwhile. */
  const sending = shallowRef(0);

  const { value: status, refresh } = useGlobalState({
    load: () => readStatus(client.rest),
    on: ['event.config.changed'],
  });
  const shown = computed(() => status.value && stateOf(status.value));

  let timer: ReturnType<typeof setInterval> | undefined;
  watch(
    () => sending.value > 0 || shown.value?.isChanging === true,
    (isChanging) => {
      clearInterval(timer);
      if (isChanging) timer = setInterval(() => void refresh(), POLL_MS);
    },
  );
  onScopeDispose(() => clearInterval(timer));
  // A state that another window or a broken connection has changed.
  const onVisible = () => {
    if (!document.hidden) void refresh();
  };
  document.addEventListener('visibilitychange', onVisible);
  onScopeDispose(() => document.removeEventListener('visibilitychange', onVisible));

  async function change(enabled: boolean): Promise<void> {
    failure.value = undefined;
    sending.value += 1;
    const reply = switchRemote(client.rest, enabled);
    void refresh();
    try {
      await reply;
    } catch (error) {
      if (isUnauthorized(error)) report(error);
      else failure.value = failureOf(error);
    }
    sending.value -= 1;
    await refresh();
  }

  /** Discards the last failure, which may be of the past. */
  function lookAgain(): Promise<void> {
    failure.value = undefined;
    return refresh();
  }

  return { status, shown, failure, refresh, lookAgain, change };
}
