/** Pairs that eyes and scanners take for one another. */
const LOOKALIKES: Readonly<Record<string, string>> = { O: '0', 0: 'O', I: '1', 1: 'I', S: '5', 5: 'S', B: '8', 8: 'B', Z: '2', 2: 'Z' }

/** Longer values are left alone: no identifier is that long, and trying every edit takes quadratic time. */
const REPAIRED_CHARS = 64

/**
 * The one value that a single edit away from `value` passes, or null when none or several do. Edits are one look-alike
 * (O/0, I/1, S/5, B/8, Z/2) or one swap of neighbours. A proposal for people: what passes need not be what was meant.
 */
export function repair(value: string, passes: (candidate: string) => boolean): string | null {
  let found: string | null = null
  if (value.length > REPAIRED_CHARS) return null
  for (const candidate of edits(value)) {
    if (candidate === found || !passes(candidate)) continue
    if (found !== null) return null
    found = candidate
  }
  return found
}

function* edits(value: string): Generator<string> {
  for (let index = 0; index < value.length; index++) {
    const here = value.charAt(index)
    const next = value.charAt(index + 1)
    const twin = LOOKALIKES[here]
    if (twin !== undefined) yield value.slice(0, index) + twin + value.slice(index + 1)
    if (next !== '' && next !== here) yield value.slice(0, index) + next + here + value.slice(index + 2)
  }
}
