/** What a diamond's loupe says (ERC-2535, 2020). */
export interface Loupe {
  facets: readonly string[]
  /** By number of 32 bits; empty when only facetAddresses() was answered. */
  selectors: ReadonlySet<number>
}

const WORD_DIGITS = 64
const FACETS_MAX = 256
const SELECTORS_MAX = 4_096

/** Reads what facets() returned: a list of (address, bytes4[]). Null unless it is exactly that and within bounds; an empty list is null too. */
export function readFacets(data: string): Loupe | null {
  const digits = data.slice(2)
  const base = pointer(digits, 0, 0)
  const count = base === null ? null : small(digits, base)
  if (base === null || count === null || count < 1 || count > FACETS_MAX) return null
  const facets: string[] = []
  const selectors = new Set<number>()
  for (let index = 0; index < count; index++) {
    const facet = pointer(digits, base + WORD_DIGITS * (index + 1), base + WORD_DIGITS)
    const address = facet === null ? null : addressAt(digits, facet)
    const list = facet === null ? null : pointer(digits, facet + WORD_DIGITS, facet)
    const length = list === null ? null : small(digits, list)
    if (address === null || list === null || length === null || selectors.size + length > SELECTORS_MAX) return null
    for (let item = 0; item < length; item++) {
      const word = wordAt(digits, list + WORD_DIGITS * (item + 1))
      if (word === null || !/^[0-9a-f]{8}0{56}$/.test(word)) return null
      selectors.add(Number.parseInt(word.slice(0, 8), 16))
    }
    facets.push(address)
  }
  return { facets, selectors }
}

/** Reads what facetAddresses() returned: a list of addresses. */
export function readFacetAddresses(data: string): Loupe | null {
  const digits = data.slice(2)
  const base = pointer(digits, 0, 0)
  const count = base === null ? null : small(digits, base)
  if (base === null || count === null || count < 1 || count > FACETS_MAX) return null
  const found = Array.from({ length: count }, (_, index) => addressAt(digits, base + WORD_DIGITS * (index + 1)))
  const facets = found.filter((address) => address !== null)
  return facets.length === count ? { facets, selectors: new Set() } : null
}

function wordAt(digits: string, at: number): string | null {
  const word = digits.slice(at, at + WORD_DIGITS)
  return word.length === WORD_DIGITS ? word : null
}

function small(digits: string, at: number): number | null {
  const word = wordAt(digits, at)
  return word !== null && /^0{56}[0-9a-f]{8}$/.test(word) ? Number.parseInt(word.slice(56), 16) : null
}

/** Where in `digits` the offset that stands at `at` points to; offsets count bytes from `from`. */
function pointer(digits: string, at: number, from: number): number | null {
  const offset = small(digits, at)
  return offset === null ? null : from + 2 * offset
}

function addressAt(digits: string, at: number): string | null {
  const word = wordAt(digits, at)
  return word !== null && /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : null
}
