export const skills = {
  'skills.pluginCommand': 'Command',
  'skills.ofProject': 'of this project',
  'skills.ofUser': 'of yours',
  'skills.extra': 'added',
  'skills.builtin': 'built in',
  'skills.ofPlugin': ({ plugin }: { plugin: string }) => `of the plugin ${plugin}`,
  'skills.ofAPlugin': 'of a plugin',
  'skills.loaded': 'Loaded instructions',

  'skills.reading': 'Reading the text …',
  'skills.noText': 'No text of it is in the conversation.',
} as const;
