/** The view of conversations, as the browser remembers it. */
import { afterEach, expect, it } from 'vitest';
import { effectScope } from 'vue';
import { nextViewMode, rememberViewMode, viewMode } from '../../../web/stores/view-mode.ts';

const scopes: ReturnType<typeof effectScope>[] = [];
afterEach(() => {
  for (const scope of scopes.splice(0)) scope.stop();
  viewMode.value = 'normal';
});

function remember(stored?: string): Map<string, string> {
  const values = new Map(stored === undefined ? [] : [['key', stored]]);
  const scope = effectScope();
  scopes.push(scope);
  scope.run(() =>
    rememberViewMode(
      { getItem: (key) => values.get(key) ?? null, setItem: (key, value) => void values.set(key, value) },
      'key',
    ),
  );
  return values;
}

it('is the stored one, and each later one is stored', () => {
  const stored = remember('summary');
  expect(viewMode.value).toBe('summary');
  nextViewMode();
  expect(viewMode.value).toBe('all');
  expect(stored.get('key')).toBe('all');
});

it('is the normal one where nothing, or another value, is stored', () => {
  remember();
  expect(viewMode.value).toBe('normal');
  remember('everything');
  expect(viewMode.value).toBe('normal');
});
