/** Whether the browser notifies; stored for the browser and this server. */
import { ref, watch, type Ref } from 'vue';
import { scopedName } from '../../stores/page-root.ts';

function stored(name: string): Ref<boolean> {
  const key = scopedName(name);
  const value = ref(localStorage.getItem(key) === 'on');
  watch(value, (on) => (on ? localStorage.setItem(key, 'on') : localStorage.removeItem(key)), { flush: 'sync' });
  window.addEventListener('storage', (event) => {
    if (event.key === key) value.value = event.newValue === 'on';
  });
  return value;
}

export const isNotifying = stored('notify');
export const isSounding = stored('sound');
