/** The look of the page in this browser: the theme and the density; one for the whole page. */
import { effectScope, shallowRef, watchEffect, type Ref } from 'vue';
import { scopedName } from './page-root.ts';

export const themes = ['system', 'light', 'dark', 'contrast'] as const;
export type Theme = (typeof themes)[number];

export const densities = ['comfortable', 'compact'] as const;
export type Density = (typeof densities)[number];

interface Appearance {
  theme: Ref<Theme>;
  density: Ref<Density>;
}

let shared: Appearance | undefined;

/** A choice that is stored, and displayed by an attribute of the root. */
function choice<T extends string>(name: 'theme' | 'density', values: readonly [T, ...T[]]): Ref<T> {
  const key = scopedName(name);
  const value: Ref<T> = shallowRef(values.find((one) => one === localStorage.getItem(key)) ?? values[0]);
  // Detached from the component that is the first to use it.
  effectScope(true).run(() =>
    watchEffect(() => {
      document.documentElement.dataset[name] = value.value;
      localStorage.setItem(key, value.value);
    }),
  );
  return value;
}

export function useAppearance(): Appearance {
  shared ??= { theme: choice('theme', themes), density: choice('density', densities) };
  return shared;
}
