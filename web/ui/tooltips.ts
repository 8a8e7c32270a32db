/** The tooltip of the page: one at a time, for any number of parts that have one. */
import { shallowRef } from 'vue';

export interface Tip {
  element: HTMLElement;
  text: string;
  keys?: string | undefined;
  /** Whether the text is more than the name of the element. */
  describes?: boolean;
}

/** How long a pointer rests before the tooltip appears, in ms. */
const REST_MS = 500;
/** How long the tooltip stays for a pointer on its way to it, in ms. */
const STAY_MS = 120;

export const tip = shallowRef<Tip>();
let timer: ReturnType<typeof setTimeout> | undefined;

function later(ms: number, change: () => void) {
  clearTimeout(timer);
  timer = setTimeout(change, ms);
}

export function closeTip(): void {
  clearTimeout(timer);
  tip.value = undefined;
}

/** The pointer is on the tooltip: it stays. */
export const holdTip = () => clearTimeout(timer);

export const leaveTip = () => later(STAY_MS, closeTip);

/** Listeners of an element with a tooltip. Touch has no hover, so there a tooltip appears with the focus only. */
export function tipListeners(read: () => Omit<Tip, 'element'> | undefined) {
  const open = (element: EventTarget | null) => {
    const content = read();
    if (content && element instanceof HTMLElement && element.isConnected) tip.value = { element, ...content };
  };
  return {
    onPointerenter({ currentTarget, pointerType }: PointerEvent) {
      if (pointerType !== 'touch') later(tip.value ? 0 : REST_MS, () => open(currentTarget));
    },
    onPointerleave: leaveTip,
    onPointerdown: closeTip,
    onFocus({ currentTarget }: FocusEvent) {
      if (currentTarget instanceof HTMLElement && currentTarget.matches(':focus-visible, :has(:focus-visible)'))
        open(currentTarget);
    },
    onBlur: closeTip,
  };
}
