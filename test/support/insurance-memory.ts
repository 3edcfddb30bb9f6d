import type { InsuranceStore, PolicyRow, UnderwriterRow } from '../../src/ports/insurance.ts'

/** A directory and its policies that last as long as the test; it may start with entries. */
export function insuranceInMemory(entries: readonly UnderwriterRow[] = []): InsuranceStore {
  const rows = new Map(entries.map((row) => [row.address, row]))
  const policies = new Map<string, PolicyRow>()
  return {
    register(row, networks, bounds, now_s) {
      const before = rows.get(row.address)
      const same = before?.entry_hash === row.entry_hash
      if (same && before.listed_until_s <= now_s) return Promise.resolve('older')
      if (same && (before.proven_s !== null || row.proven_s === null)) return Promise.resolve('unchanged')
      if (!same && before !== undefined && before.issued_s >= row.issued_s) return Promise.resolve('older')
      const others = [...rows.values()].filter(({ address, listed_until_s }) => address !== row.address && listed_until_s > now_s)
      const [unproven, proven] = [others.filter(({ proven_s }) => proven_s === null), others.filter(({ proven_s }) => proven_s !== null)]
      if (row.proven_s === null) {
        if (unproven.filter(({ network }) => networks.includes(network)).length >= bounds.unproven_network)
          return Promise.resolve('network_full')
        if (unproven.length >= bounds.unproven) {
          const own = unproven.filter(({ network }) => networks.includes(network)).length
          const size = (name: 'provider' | 'network', one: UnderwriterRow) => unproven.filter((other) => other[name] === one[name]).length
          const [first] = unproven.toSorted(
            (one, other) =>
              size('provider', other) - size('provider', one) ||
              size('network', other) - size('network', one) ||
              one.listed_until_s - other.listed_until_s ||
              (one.address < other.address ? -1 : 1),
          )
          if (first === undefined || (own > 0 && own + 1 >= size('network', first))) return Promise.resolve('unproven_full')
          rows.delete(first.address)
        }
      } else if (proven.filter(({ domain }) => domain === row.domain).length >= bounds.proven_domain) return Promise.resolve('domain_full')
      if (before === undefined && rows.size >= bounds.entries) {
        const expired = [...rows.values()].filter(({ listed_until_s }) => listed_until_s <= now_s)
        const [first] = unproven.toSorted(
          (one, other) => one.listed_until_s - other.listed_until_s || (one.address < other.address ? -1 : 1),
        )
        const displaced = row.proven_s === null || first === undefined ? [] : [first]
        const gone = expired.length > 0 ? expired : displaced
        for (const { address } of gone) rows.delete(address)
        if (gone.length === 0) return Promise.resolve('full')
      }
      rows.set(row.address, row)
      return Promise.resolve(same ? 'unchanged' : 'registered')
    },
    remove(address, now_s) {
      const found = rows.get(address)
      if (found === undefined || found.listed_until_s <= now_s) return Promise.resolve(false)
      rows.set(address, { ...found, listed_until_s: 0 })
      return Promise.resolve(true)
    },
    underwriters: (now_s) =>
      Promise.resolve(
        [...rows.values()]
          .filter(({ listed_until_s }) => listed_until_s > now_s)
          .toSorted(
            (one, other) => Number(one.proven_s === null) - Number(other.proven_s === null) || (one.address < other.address ? -1 : 1),
          ),
      ),
    underwriter: (address) => Promise.resolve(rows.get(address) ?? null),
    bind(given) {
      const before = policies.get(given.policy_id)
      const policy = before ?? { ...given, underwriter_signature: null, underwriter_attestation: null }
      policies.set(given.policy_id, policy)
      return Promise.resolve({ created: before === undefined, policy })
    },
    policy: (policy_id) => Promise.resolve(policies.get(policy_id) ?? null),
    countersign(policy_id, signature) {
      const found = policies.get(policy_id)
      if (found !== undefined && found.underwriter_signature === null) policies.set(policy_id, { ...found, ...signature })
      return Promise.resolve(policies.get(policy_id) ?? null)
    },
  }
}
