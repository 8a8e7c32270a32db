/** An action on a row or form of a view: one at a time, with its failure. */
import { shallowRef } from 'vue';
import { isUnauthorized } from '@service-code/client';
import { useWorkbench } from './workbench.ts';

export function useAction() {
  const { report } = useWorkbench();
  const isBusy = shallowRef(false);
  /** The error of the last work; undefined after a success. */
  const failure = shallowRef<unknown>();

  return {
    isBusy,
    failure,
    /** Runs the work unless other work runs; true if it succeeded. */
    async run(work: () => Promise<unknown>): Promise<boolean> {
      if (isBusy.value) return false;
      isBusy.value = true;
      failure.value = undefined;
      try {
        await work();
        return true;
      } catch (error) {
        if (isUnauthorized(error)) report(error);
        failure.value = error;
        return false;
      } finally {
        isBusy.value = false;
      }
    },
  };
}
