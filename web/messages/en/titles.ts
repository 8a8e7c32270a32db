export const titles = {
  'titles.generate': 'Generate title',
  'titles.generating': 'Generating …',
  'titles.hint': 'Generate a title from the conversation',
} as const;
