/** The items of a feature's list in the palette, searched while a person types. */
import { onScopeDispose, shallowRef, watch, type Ref } from 'vue';
import type { CommandContext, PaletteItem, PaletteList } from '../features/feature.ts';
import { t } from '../messages/messages.ts';

/** A pause of typing that ends a query. */
const DELAY_MS = 60;

export function useListResult(
  list: Readonly<Ref<PaletteList | undefined>>,
  query: () => string,
  context: CommandContext,
) {
  const items = shallowRef<readonly PaletteItem[]>([]);
  const failure = shallowRef<unknown>();
  /** Why there is nothing to search. */
  const unavailable = shallowRef('');
  const isReading = shallowRef(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The number of the last search; replies of earlier ones are discarded. */
  let last = 0;

  async function read(from: PaletteList, text: string) {
    const mine = (last += 1);
    try {
      const found = await from.search(text, context);
      if (mine !== last) return;
      failure.value = undefined;
      unavailable.value = found ? '' : t(from.unavailable);
      items.value = found ?? [];
    } catch (error) {
      if (mine !== last) return;
      items.value = [];
      failure.value = error;
    }
    isReading.value = false;
  }

  watch(
    [list, query],
    ([from, text], [before]) => {
      clearTimeout(timer);
      last += 1;
      isReading.value = from !== undefined;
      if (from !== before) {
        items.value = [];
        failure.value = undefined;
        unavailable.value = '';
      }
      if (from) timer = setTimeout(() => void read(from, text), from === before ? DELAY_MS : 0);
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    clearTimeout(timer);
    last += 1;
  });
  return { items, failure, unavailable, isReading };
}
