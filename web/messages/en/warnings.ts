export const warnings = {
  'warnings.label': 'Warnings',
  'warnings.dismiss': 'Dismiss this warning',
} as const;
