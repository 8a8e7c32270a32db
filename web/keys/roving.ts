/** Roving focus: a row of controls is one Tab stop, and arrow keys move between them. */
import { shallowRef } from 'vue';

/** The controls have their ids as `data-roving`. */
export function useRoving(ids: () => readonly string[]) {
  const focused = shallowRef<string>();

  function onKeydown(event: KeyboardEvent) {
    const { key, target, currentTarget } = event;
    if (!(target instanceof HTMLElement) || !(currentTarget instanceof HTMLElement)) return;
    const all = ids();
    const at = all.indexOf(target.dataset['roving'] ?? '');
    if (at === -1 || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = {
      ArrowRight: (at + 1) % all.length,
      ArrowDown: (at + 1) % all.length,
      ArrowLeft: (at - 1 + all.length) % all.length,
      ArrowUp: (at - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }[key];
    if (to === undefined) return;
    event.preventDefault();
    currentTarget.querySelector<HTMLElement>(`[data-roving="${all[to]}"]`)?.focus();
  }

  return {
    onKeydown,
    onFocus: (id: string) => (focused.value = id),
    /** The control that Tab reaches: the last focused one, else the current one, else the first. */
    stop: (current?: string): string | undefined =>
      [focused.value, current].find((id) => id !== undefined && ids().includes(id)) ?? ids()[0],
  };
}
