/** Whether this bind has terminals: a shell is not for everybody who reaches an open port. */
export const terminalsMounted = (bind: { loopback: boolean; allowRemoteTerminals: boolean }): boolean =>
  bind.loopback || bind.allowRemoteTerminals;
