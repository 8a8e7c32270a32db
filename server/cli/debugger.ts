/** Node's debugger requires no credentials: it gives each user of the machine the rights of this process. */

const IGNORED =
  'SIGUSR1 is ignored: it would open a debugger to every user of this machine. Use node --inspect instead.';

/**
 * Reports each SIGUSR1 until the returned function is called. The listener also prevents Node from opening the
 * debugger, as that of `bin/debug-signal.cjs` does.
 */
export function reportDebugSignals(report: (message: string) => void): () => void {
  const onSignal = () => report(IGNORED);
  process.on('SIGUSR1', onSignal);
  return () => void process.off('SIGUSR1', onSignal);
}

/** Whether Node was started with an open debugger, by an argument or by `NODE_OPTIONS`. */
export function hasDebugger(env: NodeJS.ProcessEnv, execArgv: readonly string[]): boolean {
  // `--inspect-port` and `--inspect-publish-uid` do not open a debugger.
  return [env.NODE_OPTIONS ?? '', ...execArgv].some((text) => /--inspect(?!-p)/.test(text));
}
