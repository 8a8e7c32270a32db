/** The theme: light, dark, or the system's. */
import { ref, watchEffect } from 'vue';

const KEY = 'service-code.theme';
const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** The symbol of each choice. */
export const themeOf: Record<Theme, string> = { system: '◐', light: '○', dark: '●' };

export function useTheme() {
  const theme = ref<Theme>(themes.find((name) => name === localStorage.getItem(KEY)) ?? 'system');
  watchEffect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    localStorage.setItem(KEY, theme.value);
  });
  const next = () => (theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system');
  return { theme, next };
}
