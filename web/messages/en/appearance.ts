export const appearance = {
  'appearance.menu': 'Colours and density',
  'appearance.themes': 'Colours',
  'appearance.densities': 'Density',
  'appearance.theme': ({ theme }: { theme: string }) => `Colours: ${theme}`,
  'appearance.density': ({ density }: { density: string }) => `Density: ${density}`,
  'appearance.system': 'As the system',
  'appearance.light': 'Light',
  'appearance.dark': 'Dark',
  'appearance.contrast': 'High contrast',
  'appearance.comfortable': 'Comfortable',
  'appearance.compact': 'Compact',
} as const;
