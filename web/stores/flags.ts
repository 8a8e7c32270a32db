/** The experimental flags of the server, as its settings and its environment resolve them. */
import { effectScope, type ShallowRef } from 'vue';
import type { Meta } from '@service-code/client';
import type { FollowedState } from './follow-state.ts';
import { useGlobalState } from './global-state.ts';
import { useWorkbench } from './workbench.ts';

type Flags = Meta['experimental_flags'];

let shared: FollowedState<Flags> | undefined;

/** One value for the whole page, read when it is first used; undefined before. */
export function useFlags(): Readonly<ShallowRef<Flags | undefined>> {
  const { rest } = useWorkbench().client;
  // Detached: it outlives the component that uses it first.
  shared ??= effectScope(true).run(() =>
    useGlobalState({
      load: async () => (await rest.meta()).experimental_flags,
      on: ['event.config.changed'],
    }),
  );
  if (!shared) throw new Error('The scope is not active');
  return shared.value;
}
