import type { InsuranceStore, PolicyRow, UnderwriterRow } from '../../src/ports/insurance.ts'

/** A directory and its policies that last as long as the test; it may start with entries. */
export function insuranceInMemory(entries: readonly UnderwriterRow[] = []): InsuranceStore {
  const rows = new Map(entries.map((row) => [row.address, row]))
  const policies = new Map<string, PolicyRow>()
  return {
    register(row, most, now_s) {
      const before = rows.get(row.address)
      if (before?.entry_hash === row.entry_hash) return Promise.resolve('unchanged')
      if (before !== undefined && before.issued_s >= row.issued_s) return Promise.resolve('older')
      if (before === undefined && rows.size >= most) {
        const expired = [...rows.values()].filter(({ valid_until_s }) => valid_until_s <= now_s)
        for (const { address } of expired) rows.delete(address)
        if (expired.length === 0) return Promise.resolve('full')
      }
      rows.set(row.address, row)
      return Promise.resolve('registered')
    },
    underwriters: (now_s) =>
      Promise.resolve(
        [...rows.values()]
          .filter(({ valid_until_s }) => valid_until_s > now_s)
          .toSorted((one, other) => (one.address < other.address ? -1 : 1)),
      ),
    underwriter: (address) => Promise.resolve(rows.get(address) ?? null),
    bind(given) {
      const before = policies.get(given.policy_id)
      const policy = before ?? { ...given, underwriter_signature: null }
      policies.set(given.policy_id, policy)
      return Promise.resolve({ created: before === undefined, policy })
    },
    policy: (policy_id) => Promise.resolve(policies.get(policy_id) ?? null),
    countersign(policy_id, signature) {
      const found = policies.get(policy_id)
      if (found !== undefined && found.underwriter_signature === null)
        policies.set(policy_id, { ...found, underwriter_signature: signature })
      return Promise.resolve(policies.get(policy_id) ?? null)
    },
  }
}
