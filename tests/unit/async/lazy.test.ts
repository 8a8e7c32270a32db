import { expect, test } from 'vitest';
import { lazy, lazyService } from '#server/async/lazy.ts';

test('concurrent calls share a load; a failure rejects for its callers and is not cached', async () => {
  const begun: { succeed(value: string): void; fail(error: Error): void }[] = [];
  const load = lazy(() => new Promise<string>((succeed, fail) => void begun.push({ succeed, fail })));
  expect(begun).toHaveLength(0);
  const first = [load(), load()];
  expect(begun).toHaveLength(1);
  begun[0]?.fail(new Error('no such file'));
  for (const one of first) await expect(one).rejects.toThrow('no such file');
  const second = load();
  begun[1]?.succeed('here');
  expect(await second).toBe('here');
  expect(await load()).toBe('here');
  expect(begun).toHaveLength(2);
});

test('a service is closed with its loader, also one whose load ends after that', async () => {
  const closed: string[] = [];
  const service = (name: string) => ({ name, close: () => void closed.push(name) });
  const unused = lazyService(() => Promise.resolve(service('unused')));
  await unused.close();
  expect(closed).toEqual([]);
  const used = lazyService(() => Promise.resolve(service('used')));
  await used.load();
  await used.close();
  expect(closed).toEqual(['used']);
  let end: (one: ReturnType<typeof service>) => void = () => undefined;
  const late = lazyService(() => new Promise<ReturnType<typeof service>>((resolve) => (end = resolve)));
  const loading = late.load();
  await late.close();
  end(service('late'));
  await loading;
  expect(closed).toEqual(['used', 'late']);
});
