/** The goal of a session, and its control. */
import { computed, shallowRef, watch } from 'vue';
import type { Goal } from '@service-code/client';
import type { SessionView } from '../../state/session-view.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import { controlGoal, readGoal } from './requests.ts';

export function useGoal(view: () => SessionView) {
  const { client, report } = useWorkbench();
  const session = computed(() => view().session?.id);
  /** The goal in the transcript; a change of it triggers a read, which adds the used budget. */
  const followed = computed(() => view().main.meta.goal);
  const read = shallowRef<Goal | null>(null);
  const sending = shallowRef(false);
  /** Number of the newest read; replies to earlier ones are discarded. */
  let newest = 0;

  watch(
    [followed, session],
    async () => {
      const mine = ++newest;
      if (!followed.value) read.value = null;
      if (session.value === undefined || !followed.value) return;
      try {
        const goal = await readGoal(client.rest, session.value);
        if (mine === newest) read.value = goal;
      } catch (error) {
        report(error);
      }
    },
    { immediate: true },
  );

  return {
    /** Undefined if there is none. */
    goal: computed(() => (followed.value ? (read.value ?? undefined) : undefined)),
    sending,
    async control(request: 'pause' | 'resume' | 'cancel') {
      if (session.value === undefined) return;
      sending.value = true;
      try {
        await controlGoal(client.rest, session.value, request);
      } catch (error) {
        report(error);
      }
      sending.value = false;
    },
  };
}
