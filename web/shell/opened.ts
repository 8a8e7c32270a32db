import { computed, shallowRef, watchEffect, type Ref } from 'vue';
import type { Panel } from '../features/feature.ts';

/** The panels that were open since the component was created: they stay mounted. */
export function useOpened(panels: readonly Panel[], open: Readonly<Ref<string | undefined>>) {
  const ids = shallowRef<readonly string[]>([]);
  watchEffect(() => {
    const id = open.value;
    if (id !== undefined && !ids.value.includes(id)) ids.value = [...ids.value, id];
  });
  return computed(() => panels.filter(({ id }) => ids.value.includes(id)));
}
