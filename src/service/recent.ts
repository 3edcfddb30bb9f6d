/** A map that keeps the entries used last and forgets the others. */
export interface RecentMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

/**
 * Map of at most `most` entries; a further entry evicts the least recently used one. A Map keeps the order in which its keys were set, so
 * the first is that one.
 */
export function createRecentMap<Value>(most: number): RecentMap<Value> {
  const entries = new Map<string, Value>()
  const put = (key: string, value: Value) => {
    entries.delete(key)
    entries.set(key, value)
  }
  return {
    get(key) {
      const value = entries.get(key)
      if (value !== undefined) put(key, value)
      return value
    },
    set(key, value) {
      put(key, value)
      if (entries.size <= most) return
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
