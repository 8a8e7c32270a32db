/** The layout of the page as reactive values, stored for the tab and, for new tabs, for the browser. */
import { computed, reactive, shallowRef, watch } from 'vue';
import { clamp, parseLayout, SIDEBAR, type PaneLayout } from '../state/layout.ts';

const PHONE = '(max-width: 720px)';
/** From this width, the panel is open next to the conversation until the user closes it. */
const WIDE_PX = 1800;

/** A region that is displayed without the others. */
export type SingleRegion = 'conversation' | 'panel' | 'drawer';

export type LayoutStore = ReturnType<typeof createLayout>;

/** `key` names the layout in the browser's storage. Never disposed. */
export function createLayout(key: string) {
  const layout = reactive(parseLayout(sessionStorage.getItem(key) ?? localStorage.getItem(key)));
  watch(layout, () => {
    const text = JSON.stringify(layout);
    sessionStorage.setItem(key, text);
    localStorage.setItem(key, text);
  });

  const phone = window.matchMedia(PHONE);
  const isPhone = shallowRef(phone.matches);
  phone.addEventListener('change', () => (isPhone.value = phone.matches));
  const wide = window.matchMedia(`(min-width: ${WIDE_PX}px)`);
  const isWide = shallowRef(wide.matches);
  wide.addEventListener('change', () => (isWide.value = wide.matches));
  const hover = window.matchMedia('(hover: hover)');
  const canHover = shallowRef(hover.matches);
  hover.addEventListener('change', () => (canHover.value = hover.matches));

  return {
    /** Whether one region at a time is displayed. */
    isPhone: computed(() => isPhone.value),
    isWide: computed(() => isWide.value),
    /** Whether the main pointer can hover, unlike a finger. */
    canHover: computed(() => canHover.value),
    sidebar: layout.sidebar,
    sidebarWidth: computed({
      get: () => layout.sidebar.width,
      set: (width) => (layout.sidebar.width = clamp(width, SIDEBAR.min, SIDEBAR.max)),
    }),
    shares: computed({ get: () => layout.shares, set: (shares) => (layout.shares = shares) }),
    pane(slot: number): PaneLayout {
      const pane = layout.panes[slot];
      if (!pane) throw new Error(`No slot ${slot}`);
      return pane;
    },
    /** The region of the focused pane that is displayed without the others. */
    single: shallowRef<SingleRegion>(),
  };
}
