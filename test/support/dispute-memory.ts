import type { DisputeRecord, Disputes } from '../../src/ports/assured-records.ts'

/** Disputes that last as long as the test. */
export function disputesInMemory(): Disputes {
  const records = new Map<string, DisputeRecord>()
  return {
    find: (receipt_hash, dispute_id) => Promise.resolve(records.get(`${receipt_hash} ${dispute_id}`) ?? null),
    file(given) {
      const name = `${given.receipt_hash} ${given.dispute_id}`
      const before = records.get(name)
      const yields = before !== undefined && !before.payer_signed && given.payer_signed
      const same = before?.body_hash === given.body_hash
      const kept = before === undefined || (yields && !same) ? given : yields ? { ...before, payer_signed: true } : before
      records.set(name, kept)
      return Promise.resolve({ created: kept === given, record: { ...kept } })
    },
  }
}
