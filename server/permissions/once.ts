/** A function that does its work at the first call and gives the same result at every later one. */
export function once<Result>(work: () => Result): () => Result {
  let done: { result: Result } | undefined;
  return () => (done ??= { result: work() }).result;
}
