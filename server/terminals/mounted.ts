/** Whether the server offers terminals with this bind: an open port must not expose a shell. */
export const terminalsMounted = (bind: { loopback: boolean; allowRemoteTerminals: boolean }): boolean =>
  bind.loopback || bind.allowRemoteTerminals;
