/** Computes a value on first use and keeps it. An exception is not kept; a promise is kept even if it rejects. */
export function once<Value>(compute: () => Value): () => Value {
  let kept: { value: Value } | null = null
  return () => (kept ??= { value: compute() }).value
}
