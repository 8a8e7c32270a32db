/** The tasks of a session, read again after each change of one in the transcript. */
import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue';
import type { SessionTask } from '@service-code/client';
import type { SessionView } from '../../state/session-view.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import { listTasks } from './requests.ts';
import { taskChanges, waitingCalls } from './tasks.ts';

/** The task of a call in the foreground is read when the call takes longer than this. */
const PATIENCE_MS = 3000;
const TICK_MS = 1000;

/** `active`: whether the tasks are displayed; default: always. */
export function useTasks(view: () => SessionView, active: () => boolean = () => true) {
  const { client, report } = useWorkbench();
  const tasks = shallowRef<readonly SessionTask[]>([]);
  const now = ref(Date.now());
  let late: ReturnType<typeof setTimeout> | undefined;

  const running = computed(() => tasks.value.filter(({ status }) => status === 'running'));

  async function read() {
    if (!active()) return;
    try {
      tasks.value = await listTasks(client.rest, view().id);
    } catch (error) {
      report(error);
    }
  }

  watch([() => taskChanges(view()), active], read, { immediate: true });
  watch(
    () => waitingCalls(view()).join(' '),
    (calls, before) => {
      clearTimeout(late);
      if (calls) late = setTimeout(read, PATIENCE_MS);
      else if (before && running.value.length > 0) void read();
    },
  );
  const ticking = setInterval(() => {
    if (running.value.length > 0) now.value = Date.now();
  }, TICK_MS);
  onScopeDispose(() => {
    clearTimeout(late);
    clearInterval(ticking);
  });

  return { tasks, running, /** In ms; ticks while a task runs. */ now, refresh: read };
}
