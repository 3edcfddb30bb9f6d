import { inRange97, remainder97 } from '../mod97.ts'
import { luhnSum, remainder } from './schemes.ts'
import { at, decimal, found, type LengthRule, lengths, NO_LEADING_ZERO, type PartRule, pair, plain, type Scheme, weighted } from './rule.ts'

/**
 * Two check digits from a remainder modulo 97, 89 or 37. Sources: FOD Economie on the enterprise number (BE), Belastingdienst on the
 * btw-identificatienummer of 2020 (NL), HMRC VAT Traders Number check digit, both series (GB, XI), DGFiP and INSEE on the TVA key and
 * SIREN (FR), the description of check digits by the Austrian finance ministry (LU, MT).
 */

/** 97 less the remainder of the first eight digits: 01 to 97. */
const BELGIAN = pair('modulus 97', 8, (values) => 97 - (decimal(values, 0, 8) % 97))

/** The first digit is 0, or 1 since 2023. */
export const BELGIUM = lengths({
  10: {
    parts: [
      {
        label: 'number',
        start: 0,
        end: 1,
        code: 'bad_prefix',
        expected: '0 or 1',
        holds: (values) => at(values, 0) < 2,
      },
    ],
    schemes: [BELGIAN],
  },
})

const NL = Uint8Array.of(23, 21)

/** ISO 7064 MOD 97-10 over the whole number with its prefix, for sole traders since 2020; B is written in place 10. */
const DUTCH_NEW: Scheme = {
  ...pair('ISO 7064 MOD 97-10', 10, (values) => 98 - ((remainder97(values, 0, 10, remainder97(NL, 0, 2)) * 100) % 97)),
  accepts: (values) => inRange97(decimal(values, 10, 12)) && remainder97(values, 0, 12, remainder97(NL, 0, 2)) === 1,
}

/** Nine digits of a RSIN or BSN with modulus 11, then B and a count from 01; or the calculation of 2020. */
export const NETHERLANDS = lengths({
  12: {
    parts: [
      {
        label: 'suffix',
        start: 10,
        end: 12,
        code: 'bad_component',
        expected: '01 to 99',
        holds: (values) => decimal(values, 10, 12) > 0,
      },
    ],
    schemes: [remainder('modulus 11', [9, 8, 7, 6, 5, 4, 3, 2]), DUTCH_NEW],
    body: [0, 9],
  },
})

const BRITISH_WEIGHTS = [8, 7, 6, 5, 4, 3, 2]

/** Check digits that differ by 97 are the same: the descriptions disagree on whether 00 or 97 is written. */
function british(name: string, added: number, covers?: Scheme['covers']): Scheme {
  const scheme = pair(name, 7, (values) => 97 - ((weighted(values, BRITISH_WEIGHTS) + added) % 97))
  const agrees = (values: Uint8Array) => (found(scheme, values) - scheme.expected(values)) % 97 === 0
  return { ...scheme, accepts: agrees, ...(covers === undefined ? {} : { covers }) }
}

/** The second series begins at 100 0000 xx. */
const BRITISH_SCHEMES: readonly Scheme[] = [
  british('modulus 97', 0),
  british('modulus 97, second series', 55, (values) => decimal(values, 0, 3) >= 100),
]
const STANDARD: LengthRule = { parts: [], schemes: BRITISH_SCHEMES, body: [0, 7] }

/** Government departments (GD) are 000 to 499, health authorities (HA) 500 to 999. */
const AUTHORITY: PartRule = {
  label: 'number',
  start: 2,
  end: 5,
  code: 'bad_component',
  expected: '000 to 499 after GD, 500 to 999 after HA',
  holds: (values) => (at(values, 0) === 16 ? at(values, 2) < 5 : at(values, 2) >= 5),
}

/** Nine digits, three more for a branch; no checksum for authorities. */
export const UNITED_KINGDOM = lengths({ 5: { parts: [AUTHORITY], schemes: [] }, 9: STANDARD, 12: STANDARD })

/** Values 0–33 of the characters of a French key, which has no I and no O. */
function keyValue(value: number): number {
  return value > 24 ? value - 2 : value > 18 ? value - 1 : value
}

const allDigits = (values: Uint8Array) => at(values, 0) < 10 && at(values, 1) < 10

const FRENCH = pair('modulus 97 key', 0, (values) => (12 + 3 * (decimal(values, 2, 11) % 97)) % 97)

/** A key with a letter is not the only one that a SIREN can have, so the expected one is the key of two digits. */
const FRENCH_LETTERS: Scheme = {
  ...FRENCH,
  name: 'key with letters',
  accepts(values) {
    const [first, second] = [keyValue(at(values, 0)), keyValue(at(values, 1))]
    const key = first < 10 ? first * 24 + second - 10 : first * 34 + second - 100
    return (decimal(values, 2, 11) + 1 + Math.floor(key / 11)) % 11 === key % 11
  },
  covers: (values) => !allDigits(values),
}

/** Numbers of Monaco have 000 in the place where a SIREN begins, and are none. */
const isMonegasque = (values: Uint8Array) => decimal(values, 2, 5) === 0

export const FRANCE = lengths({
  11: {
    parts: [
      {
        label: 'key',
        start: 0,
        end: 2,
        code: 'bad_component',
        expected: 'no I and no O',
        holds: (values) => [0, 1].every((index) => at(values, index) !== 18 && at(values, index) !== 24),
      },
      {
        label: 'siren',
        start: 2,
        end: 11,
        code: 'bad_national_checksum',
        expected: 'a SIREN, whose last digit is Luhn’s',
        holds: (values) => isMonegasque(values) || (luhnSum(values, 2, 10) + at(values, 10)) % 10 === 0,
      },
    ],
    schemes: [{ ...FRENCH, covers: allDigits }, FRENCH_LETTERS],
    body: [2, 11],
  },
})

export const LUXEMBOURG = plain(
  8,
  pair('modulus 89', 6, (values) => decimal(values, 0, 6) % 89),
)

/** 37 less the remainder: 01 to 37. */
export const MALTA = lengths({
  8: {
    parts: [NO_LEADING_ZERO],
    schemes: [pair('modulus 37', 6, (values) => 37 - (weighted(values, [3, 4, 6, 7, 8, 9]) % 37))],
  },
})
