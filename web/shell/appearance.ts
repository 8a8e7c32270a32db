/** The choices of theme and density, for the palette, the menu of the sidebar and the sheet of a phone. */
import type { Command, Feature } from '../features/feature.ts';
import { t, type PlainKey } from '../messages/messages.ts';
import { densities, themes, useAppearance, type Density, type Theme } from '../stores/appearance.ts';
import type { IconName } from '../ui/icon-names.ts';
import type { MenuItem } from '../ui/menu-item.ts';

export const themeIcons: Record<Theme, IconName> = {
  system: 'monitor',
  light: 'sun',
  dark: 'moon',
  contrast: 'contrast',
};
const themeNames: Record<Theme, PlainKey> = {
  system: 'appearance.system',
  light: 'appearance.light',
  dark: 'appearance.dark',
  contrast: 'appearance.contrast',
};
const densityNames: Record<Density, PlainKey> = {
  comfortable: 'appearance.comfortable',
  compact: 'appearance.compact',
};

export const themeOptions = () => themes.map((value) => ({ value, label: t(themeNames[value]) }));
export const densityOptions = () => densities.map((value) => ({ value, label: t(densityNames[value]) }));

/** To be called in the setup of a component. */
export function appearanceItems(): MenuItem[] {
  const { theme, density } = useAppearance();
  return [
    ...themeOptions().map(({ value, label }) => ({
      id: value,
      label,
      checked: theme.value === value,
      run: () => void (theme.value = value),
    })),
    ...densityOptions().map(({ value, label }, at) => ({
      id: value,
      label,
      separated: at === 0,
      checked: density.value === value,
      run: () => void (density.value = value),
    })),
  ];
}

const themeCommand = (value: Theme): Command => ({
  id: `theme.${value}`,
  title: () => t('appearance.theme', { theme: t(themeNames[value]) }),
  icon: themeIcons[value],
  when: () => useAppearance().theme.value !== value,
  run: () => void (useAppearance().theme.value = value),
});
const densityCommand = (value: Density): Command => ({
  id: `density.${value}`,
  title: () => t('appearance.density', { density: t(densityNames[value]) }),
  icon: 'list',
  when: () => useAppearance().density.value !== value,
  run: () => void (useAppearance().density.value = value),
});

export const appearance: Feature = {
  commands: [...themes.map(themeCommand), ...densities.map(densityCommand)],
};
