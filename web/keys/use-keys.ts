/** The only listener for keys of commands. */
import { onBeforeUnmount, onMounted } from 'vue';
import type { Workbench } from '../stores/workbench.ts';
import { isMac } from './chord.ts';
import { beginsAccent, isComposing } from './composing.ts';
import { createKeyMap } from './key-map.ts';
import { isTextField } from './press.ts';
import { regionOf, rememberFocus } from './regions.ts';

/** Parts over the page that have keys of their own. */
const OVERLAY = 'dialog, [role=dialog], [role=alertdialog], [role=menu], [role=listbox]';

/**
 * Whether a part over the page has the focus. While one is modal, the focus is in it, or on the body for a moment.
 */
function isCovered(target: EventTarget | null): boolean {
  if (target instanceof Element && target !== document.body) return target.closest(OVERLAY) !== null;
  return document.querySelector('dialog[open], [role=alertdialog], [role=dialog][data-state=open]') !== null;
}

/** Runs commands by their keys while the component is mounted. Keys that an element has handled are not for them. */
export function useKeys(workbench: Workbench): void {
  const keys = createKeyMap(workbench.commands, { isStrict: import.meta.env.DEV, isMac: isMac() });

  function onKeydown(event: KeyboardEvent) {
    if (event.defaultPrevented || isCovered(event.target)) return;
    if (isComposing(event) && !beginsAccent(event)) return;
    const { target } = event;
    const found = keys.find(event, { region: regionOf(target), inText: isTextField(target) });
    const command = found.find(({ when }) => when?.(workbench.commandContext()) ?? true);
    if (!command) return;
    event.preventDefault();
    if (!event.repeat || command.repeats) workbench.run(command);
  }

  const onFocus = ({ target }: FocusEvent) => rememberFocus(target);

  onMounted(() => {
    window.addEventListener('keydown', onKeydown);
    window.addEventListener('focusin', onFocus);
  });
  onBeforeUnmount(() => {
    window.removeEventListener('keydown', onKeydown);
    window.removeEventListener('focusin', onFocus);
  });
}
