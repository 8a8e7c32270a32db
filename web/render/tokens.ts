/** `950`, `12k`, `1.2M`. */
export function tokenCount(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 1_000_000) return `${Number((tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0))}k`;
  return `${Number((tokens / 1_000_000).toFixed(1))}M`;
}
