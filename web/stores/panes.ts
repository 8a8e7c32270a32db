/** The panes of the page: their sessions, which one has the focus, and their open panels. */
import { computed, shallowReactive, shallowRef, watch, type WritableComputedRef } from 'vue';
import type { Panel } from '../features/feature.ts';
import type { Pane } from '../shell/pane.ts';
import { sessionsHash, withNeighbour, withSessions, type PaneSlot } from '../state/pane-address.ts';
import type { LayoutStore } from './layout.ts';
import type { Navigation } from './navigation.ts';
import type { OpenSession } from './session.ts';

export interface PanesDeps {
  navigation: Navigation;
  layout: LayoutStore;
  panels: readonly Panel[];
}

const placeOf = ({ place = 'side' }: Panel) => place;
const keyOf = (place: 'side' | 'drawer') => (place === 'side' ? 'panel' : 'drawer');

/** Never disposed. */
export function createPanes({ navigation, layout, panels }: PanesDeps) {
  const slots = shallowRef(withSessions([], navigation.sessions.value));
  const focusedSlot = shallowRef(slots.value[0]?.slot ?? 0);
  /** The panes that are drawn, by slot. */
  const drawn = shallowReactive(new Map<number, Pane>());
  const focused = computed<PaneSlot | undefined>(
    () => slots.value.find(({ slot }) => slot === focusedSlot.value) ?? slots.value[0],
  );
  const selected = computed(() => focused.value?.sessionId);
  /** The session that had the focus before. */
  const previous = shallowRef<string>();

  watch(
    () => sessionsHash(navigation.sessions.value),
    () => {
      slots.value = withSessions(slots.value, navigation.sessions.value);
      const isKept = slots.value.some(({ slot }) => slot === focusedSlot.value);
      if (!isKept) focusedSlot.value = slots.value[0]?.slot ?? 0;
      layout.single.value = undefined;
    },
    { flush: 'sync' },
  );
  watch(
    selected,
    (_, before) => {
      if (before !== undefined) previous.value = before;
    },
    { flush: 'sync' },
  );

  const ids = () => slots.value.map(({ sessionId }) => sessionId);

  function focus(slot: number) {
    focusedSlot.value = slot;
  }

  function open(next: readonly string[], id: string) {
    const isOpen = ids().includes(id);
    navigation.go(sessionsHash(next));
    const pane = slots.value.find(({ sessionId }) => sessionId === id);
    if (!pane) return;
    focus(pane.slot);
    // The prompt box of a new pane takes the focus when it is drawn.
    if (isOpen && !layout.isPhone.value) drawn.get(pane.slot)?.focusPrompt();
  }

  function close(slot: number) {
    const index = slots.value.findIndex((pane) => pane.slot === slot);
    navigation.go(sessionsHash(ids().toSpliced(index, 1)));
  }

  /** The id of the open panel of a place; on a phone it is the displayed region. */
  function openPanel(slot: number, place: 'side' | 'drawer'): WritableComputedRef<string | undefined> {
    const key = keyOf(place);
    const choices = panels.filter((panel) => placeOf(panel) === place);
    return computed({
      get() {
        if (layout.isPhone.value) {
          const { region, panel } = navigation;
          const isShown = region.value === 'panel' && focusedSlot.value === slot;
          return isShown ? choices.find(({ id }) => id === panel.value)?.id : undefined;
        }
        const chosen = layout.pane(slot)[key];
        if (chosen === undefined) {
          const isDefault = place === 'side' && layout.isWide.value && slots.value.length === 1;
          return isDefault ? choices[0]?.id : undefined;
        }
        return choices.find(({ id }) => id === chosen)?.id;
      },
      set(id) {
        // What is displayed alone would cover it.
        if (id !== undefined && layout.single.value !== key) layout.single.value = undefined;
        if (layout.isPhone.value) {
          if (id === undefined) void navigation.leave();
          else navigation.show('panel', id);
        } else {
          layout.pane(slot)[key] = id ?? null;
          if (id === undefined && layout.single.value === key) layout.single.value = undefined;
        }
      },
    });
  }

  return {
    slots,
    selected,
    previous,
    /** The focused pane that is drawn. */
    focusedPane: computed(() => focused.value && drawn.get(focused.value.slot)),
    focus,
    /** Opens a session in the focused pane, or moves the focus to its pane; undefined closes the focused pane. */
    select(id: string | undefined): void {
      if (id === undefined) {
        if (focused.value) close(focused.value.slot);
        else navigation.go('#/');
        return;
      }
      const all = ids();
      const index = all.indexOf(selected.value ?? '');
      open(all.includes(id) ? all : index === -1 ? [id] : all.with(index, id), id);
    },
    /** Opens a session in a pane to the right of a pane; default: of the focused one. */
    openBeside(id: string, slot = focused.value?.slot): void {
      const index = slots.value.findIndex((pane) => pane.slot === slot);
      open(ids().includes(id) ? ids() : withNeighbour(ids(), index, id), id);
    },
    close,
    has: (id: string): boolean => slots.value.some(({ sessionId }) => sessionId === id),
    /** Creates the pane of a slot, and registers it until `remove` is called. */
    add(slot: number, session: OpenSession, focusPrompt: () => void): { pane: Pane; remove(): void } {
      const [panel, drawer] = [openPanel(slot, 'side'), openPanel(slot, 'drawer')];
      const placeOfPanel = (id: string) => panels.find((other) => other.id === id)?.place ?? 'side';
      const openIn = (id: string) => (placeOfPanel(id) === 'drawer' ? drawer : panel);
      const pane: Pane = {
        id: `pane-${slot}`,
        isFocused: computed(() => focused.value?.slot === slot),
        session,
        panel,
        drawer,
        focusPrompt,
        show(id) {
          focus(slot);
          openIn(id).value = id;
        },
        toggle(id) {
          const { single, isPhone } = layout;
          const place = openIn(id);
          const isCovered = !isPhone.value && single.value !== undefined && single.value !== keyOf(placeOfPanel(id));
          if (place.value === id && !isCovered) place.value = undefined;
          else pane.show(id);
        },
      };
      drawn.set(slot, pane);
      return {
        pane,
        remove() {
          if (drawn.get(slot) === pane) drawn.delete(slot);
        },
      };
    },
  };
}
