/** The open tab of the panel next to the conversation; stored for the browser tab. */
import { shallowRef, watch, type ShallowRef } from 'vue';
import { scopedName } from './page-root.ts';

let open: ShallowRef<string | undefined> | undefined;

/** The id of a feature's panel; undefined while none is open. One value for the whole page. */
export function useOpenPanel(): ShallowRef<string | undefined> {
  if (!open) {
    const key = scopedName('panel');
    open = shallowRef(sessionStorage.getItem(key) ?? undefined);
    watch(open, (id) => (id === undefined ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, id)));
  }
  return open;
}
