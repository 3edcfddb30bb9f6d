import fc from 'fast-check'

/** Any UTF-16, lone surrogates included. */
const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((codes) => String.fromCharCode(...codes))

export const anyText: fc.Arbitrary<string> = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), units)

/** Text that is mostly of the right characters, with some of the wrong ones. */
export function textNear(right: string, wrong: string, max_chars: number): fc.Arbitrary<string> {
  const unit = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...Array.from(right)) },
    { weight: 1, arbitrary: fc.constantFrom(...Array.from(wrong)) },
  )
  return fc.string({ unit, maxLength: max_chars })
}

const LOOKALIKES = ['0O', '1I', '5S', '8B', '2Z']

/** Every value one edit away: a look-alike put in place, or two neighbours swapped. Each once. */
export function singleEdits(value: string): string[] {
  const edits = new Set<string>()
  for (let at = 0; at < value.length; at++) {
    const [before, here, after] = [value.slice(0, at), value.charAt(at), value.slice(at + 1)]
    for (const pair of LOOKALIKES) if (pair.includes(here)) edits.add(before + pair.replace(here, '') + after)
    if (after !== '' && after[0] !== here) edits.add(before + after[0] + here + after.slice(1))
  }
  return [...edits]
}
