/** Memoizes a function without parameters: it runs at the first call. */
export function once<Result>(work: () => Result): () => Result {
  let done: { result: Result } | undefined;
  return () => (done ??= { result: work() }).result;
}
