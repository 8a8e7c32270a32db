/** The theme: light, dark, high contrast, or the system's; one for the whole page. */
import { effectScope, shallowRef, watchEffect, type Ref } from 'vue';
import { scopedName } from './page-root.ts';

const themes = ['system', 'light', 'dark', 'contrast'] as const;
export type Theme = (typeof themes)[number];

let shared: Ref<Theme> | undefined;

function openTheme(): Ref<Theme> {
  const key = scopedName('theme');
  const theme = shallowRef<Theme>(themes.find((name) => name === localStorage.getItem(key)) ?? 'system');
  // Detached from the component that is the first to use it.
  effectScope(true).run(() =>
    watchEffect(() => {
      document.documentElement.dataset['theme'] = theme.value;
      localStorage.setItem(key, theme.value);
    }),
  );
  return theme;
}

export function useTheme() {
  const theme = (shared ??= openTheme());
  const next = () => (theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system');
  return { theme, next };
}
