/** The program of a terminal for which none is named. */
import { userInfo } from 'node:os';
import type { Runtime } from '#server/runtime/runtime.ts';

/** Undefined for a user without an entry, as in many containers. */
function loginShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    return undefined;
  }
}

/** The user's own shell: that of the environment, else that of the login, else what there is. */
export async function userShell({ environment, which }: Pick<Runtime, 'environment' | 'which'>): Promise<string> {
  const named = environment().SHELL || loginShell();
  if (named) return named;
  return (await which('/bin/bash')) ?? '/bin/sh';
}
