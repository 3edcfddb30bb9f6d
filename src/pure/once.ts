/** Computes on first use, then always gives the same. What throws is tried again at the next use; a promise is kept, however it ends. */
export function once<Value>(compute: () => Value): () => Value {
  let kept: { value: Value } | null = null
  return () => (kept ??= { value: compute() }).value
}
