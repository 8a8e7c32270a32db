/** The height of the page that an on-screen keyboard leaves, for browsers that lay it over the page. */
import { onBeforeUnmount, onMounted } from 'vue';

/** Sets `--visible-height` while a keyboard covers a part of the page. */
export function useVisibleHeight(): void {
  const { visualViewport: viewport } = window;

  function update() {
    const isCovered = viewport !== null && viewport.scale === 1 && viewport.height < window.innerHeight - 1;
    const { style } = document.documentElement;
    if (isCovered) style.setProperty('--visible-height', `${viewport.height}px`);
    else style.removeProperty('--visible-height');
  }

  onMounted(() => viewport?.addEventListener('resize', update));
  onBeforeUnmount(() => viewport?.removeEventListener('resize', update));
}
