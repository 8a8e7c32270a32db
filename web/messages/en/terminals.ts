export const terminals = {
  'terminals.title': 'Terminals',
  'terminals.new': 'New terminal',
  'terminals.close': 'Close terminal',
  'terminals.in': ({ directory }: { directory: string }) => `Terminal in ${directory}`,
  'terminals.hint': ({ shell, directory }: { shell: string; directory: string }) =>
    `${shell} in ${directory} (Shift+Esc leaves it)`,
  'terminals.badge': 'ended',
  'terminals.ended': 'It was ended.',
  'terminals.exited': ({ code }: { code: number }) => `It has exited with ${code}.`,
  'terminals.gone': 'The server does not have it any more.',
  'terminals.refused': 'This server gives no terminals to others.',

  'terminals.panel': 'Terminal',
} as const;
