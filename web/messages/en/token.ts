export const token = {
  'token.remember': 'Remember on this device',
  'token.remember-hint':
    'The token stays in this browser. Everyone who uses this browser, and any program that answers at this address later, can then use this server.',
  'token.remember-hint-relay':
    'The token stays in this browser. Everyone who uses this browser can then use this server while the relay is signed in.',
} as const;
