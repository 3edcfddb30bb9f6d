import type { CodeScan, Evidence, WatchedOpcode } from './code-scan.ts'
import { privilegedSelectors, type PrivilegedSelector } from './privileged-selectors.ts'

/** Whose code: that of the address itself, that of what it delegates to, or that of a diamond's facets as its loupe lists them. */
type Place = 'contract' | 'implementation' | 'facet'

export interface PrivilegedFact extends PrivilegedSelector {
  where: Place
  evidence: Evidence | 'loupe'
}

/** The known functions that occur, in the order of the list. */
export function privilegedFacts(own: CodeScan | null, implementation: CodeScan | null, facets: ReadonlySet<number>): PrivilegedFact[] {
  const found: PrivilegedFact[] = []
  for (const [where, scan] of [['contract', own] as const, ['implementation', implementation] as const]) {
    for (const [number, known] of privilegedSelectors()) {
      const evidence = scan?.selectors.get(number)
      if (evidence !== undefined) found.push({ ...known, where, evidence })
    }
  }
  for (const [number, known] of privilegedSelectors()) if (facets.has(number)) found.push({ ...known, where: 'facet', evidence: 'loupe' })
  return found
}

export interface OpcodeFact {
  name: WatchedOpcode
  count: number
  where: Place
  /** It stands in the code; whether it ever runs is not said. */
  evidence: 'linear_sweep'
  note: string | null
}

const NOTES: Partial<Record<WatchedOpcode, string>> = {
  SELFDESTRUCT: 'Since EIP-6780 it deletes code only in the transaction that created it; it still sends away the balance.',
  ORIGIN: 'Tells a user from a contract that acts for one.',
}

/** The opcodes that occur. SSTORE is always told of the contract itself: without it nothing can be stored. */
export function opcodeFacts(own: CodeScan | null, implementation: CodeScan | null): OpcodeFact[] {
  return [['contract', own] as const, ['implementation', implementation] as const].flatMap(([where, scan]) =>
    Object.entries(scan?.opcodes ?? {}).flatMap(([opcode, count]) => {
      const name = opcode as WatchedOpcode
      if (count === 0 && (name !== 'SSTORE' || where !== 'contract')) return []
      return [{ name, count, where, evidence: 'linear_sweep' as const, note: NOTES[name] ?? null }]
    }),
  )
}
