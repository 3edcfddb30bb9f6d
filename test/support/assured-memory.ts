import type { AssuredRecord, AssuredRecords } from '../../src/ports/assured-records.ts'

/** Assured records that last as long as the test. */
export function assuredInMemory(): AssuredRecords {
  const records = new Map<string, AssuredRecord>()
  return {
    keep(given) {
      const before = records.get(given.receipt_hash)
      const { terms, created_ms, signed } = given
      const replaces = before?.signed === null && signed !== null
      const replaced = before !== undefined && replaces ? { ...before, terms, created_ms, signed } : before
      const record = replaced ?? { ...given, mark: 'OPEN' as const }
      records.set(given.receipt_hash, record)
      return Promise.resolve({ created: before === undefined || replaces, record: { ...record } })
    },
    find: (receipt_hash) => Promise.resolve(records.get(receipt_hash) ?? null),
    mark(receipt_hash, to) {
      const record = records.get(receipt_hash)
      const moves = record?.mark === (to === 'DISPUTED' ? 'OPEN' : 'DISPUTED')
      if (record !== undefined && moves) records.set(receipt_hash, { ...record, mark: to })
      return Promise.resolve(moves)
    },
  }
}
