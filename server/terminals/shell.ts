/** The default program of a terminal. */
import { userInfo } from 'node:os';
import type { Runtime } from '#server/runtime/runtime.ts';

/** Undefined for a user without a passwd entry, as in many containers. */
function loginShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    return undefined;
  }
}

/** Returns the user's shell: from the environment, else from the login, else an installed one. */
export async function userShell({ environment, which }: Pick<Runtime, 'environment' | 'which'>): Promise<string> {
  const named = environment().SHELL || loginShell();
  if (named) return named;
  return (await which('/bin/bash')) ?? '/bin/sh';
}
