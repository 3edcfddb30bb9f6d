import type { Check } from './verdict.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout, partFinding } from './identifier.ts'
import { labelInFront } from './normalize.ts'

const LAYOUT = readLayout('pin', 'type:1A serial:9N check:1A')
const [A, P] = [10, 25]

type TaxpayerType = 'individual' | 'non_individual'

const KRA_PIN = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['PIN:'],
  label: labelInFront(['(?:KRA )?PIN'], (value) => /^[0-9A-Z]{11}$/.test(value)),
  success_reason: 'The structure is valid; the calculation of the check letter is not public.',
  unverifiable: true,
  nonzero: ['serial'],
  earlyFindings: (value) => (/^[AP]/.test(value) ? [] : [partFinding(LAYOUT, 'type', value, 'bad_prefix', 'A (individual) or P (others)')]),
  hasValidComponents: (values) => values[0] === A || values[0] === P,
  facts({ type, serial, check }) {
    const taxpayer_type: TaxpayerType = type === 'A' ? 'individual' : 'non_individual'
    return { taxpayer_type, serial, check_letter: check, check_letter_verifiable: false }
  },
})

type KraPinFacts = FactsOf<typeof KRA_PIN>

/**
 * Checks the structure of a PIN of the Kenya Revenue Authority: A for individuals or P for others, nine digits, a letter. The last letter is
 * said to be a check letter, but no algorithm has been published, so any letter passes and the verdict is never more than
 * well_formed_unverifiable. Spaces and hyphens are allowed.
 */
export function checkKraPin(text: string): Check<KraPinFacts> {
  return checkIdentifier(text, KRA_PIN)
}

/** Returns the same answer as `checkKraPin(text).valid`. */
export function isKraPin(text: string): boolean {
  return isIdentifier(text, KRA_PIN)
}
