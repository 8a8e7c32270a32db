/** The open tab of the panel next to the conversation; stored for the browser tab. */
import { shallowRef, watch, type ShallowRef } from 'vue';

const KEY = 'service-code.panel';

let open: ShallowRef<string | undefined> | undefined;

/** The id of a feature's panel; undefined while none is open. One value for the whole page. */
export function useOpenPanel(): ShallowRef<string | undefined> {
  if (!open) {
    open = shallowRef(sessionStorage.getItem(KEY) ?? undefined);
    watch(open, (id) => (id === undefined ? sessionStorage.removeItem(KEY) : sessionStorage.setItem(KEY, id)));
  }
  return open;
}
