/** Keys of the list of lines: the moves of its cursor. */

export interface ListMove {
  index: number;
  /** Whether the selection is extended to it. */
  extends: boolean;
}

/** Lines of a page up or down. */
const PAGE = 20;

/** The position after a key; undefined for other keys. `index` is the line of the cursor. */
export function moveOf(
  { key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>,
  index: number,
  count: number,
): ListMove | undefined {
  const moves: Partial<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + PAGE,
    PageUp: index - PAGE,
    Home: 0,
    End: count - 1,
  };
  const moved = moves[key];
  if (moved === undefined) return undefined;
  return { index: Math.max(0, Math.min(count - 1, moved)), extends: shiftKey };
}
