/** A change lock whose owner is suspended right after acquiring it, until another server has taken it over. */
import { createChangeLock, type ChangeLock, type WriteFunctions } from '#server/storage/change-lock.ts';
import { suspendableHolder } from './lease-holder.ts';

export function createRobbedLock<Writer extends WriteFunctions<Writer>>(
  path: string,
  writer: Writer,
): ChangeLock<Writer> {
  const { holder, suspend } = suspendableHolder();
  const lock = createChangeLock({ path, holder, writer });
  return {
    hold: (work) =>
      lock.hold(async (fenced) => {
        await suspend(path);
        return work(fenced);
      }),
  };
}
