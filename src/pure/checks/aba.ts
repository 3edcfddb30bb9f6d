import table from '../../../data/aba-ranges.json' with { type: 'json' }
import { datesOf, isWords, orNull, referenceTable, rowOf } from '../datasets/table.ts'
import { complement10, weightedSum } from './check-digits.ts'
import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { digitAt, labelInFront } from './normalize.ts'
import { type Check, finding } from './verdict.ts'

/** Uses of the first two digits. */
export const ABA_CLASSES = ['us_government', 'fed_district', 'thrift', 'electronic', 'travellers_cheque'] as const

interface AbaRange {
  prefix: string
  class: string
  fed_district: number | null
  fed_city: string | null
}

/** Uses of the first two digits. The association publishes its policy as text for people, so newer ranges come by an import only. */
export const ABA_RANGES = referenceTable(
  {
    id: 'aba_ranges',
    source_urls: [],
    licence: 'Facts of the Routing Number Administrative Policy (American Bankers Association)',
    rows_min: 30,
    rows_max: 100,
    present: ['01', '12', '21', '80'],
    absent: ['13', '20', '33', '50', '99'],
    isRow: rowOf<AbaRange>({
      prefix: /^[0-9]{2}$/,
      class: (value) => ABA_CLASSES.some((one) => one === value),
      fed_district: orNull((value) => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 12),
      fed_city: orNull(isWords),
    }),
    key: ({ prefix }) => prefix,
  },
  () => table,
  ({ rows }) => {
    // 1 for each pair of first digits that is in use.
    const is_prefix = new Uint8Array(100)
    for (const { prefix } of rows) is_prefix[Number.parseInt(prefix, 10)] = 1
    return { ranges: new Map(rows.map((row) => [row.prefix, row])), is_prefix }
  },
)

/** Dates of the reference tables that an answer uses. */
export const ABA_DATA_AS_OF = datesOf([ABA_RANGES])

const LAYOUT = readLayout('aba_routing', 'routing_symbol:4N institution:4N check:1N')
const WEIGHTS = [3, 7, 1, 3, 7, 1, 3, 7]

const ABA = defineIdentifier({
  layout: LAYOUT,
  separators: ' -',
  prefixes: ['ABA:', 'RTN:', 'ROUTING:'],
  label: labelInFront(['ABA', '(?:ABA[ /-]{1,3})?(?:RTN|ROUTING(?:[ /-]{1,3}TRANSIT)?)'], () => true),
  success_reason: 'Prefix and check digit are valid; no bank directory was queried.',
  nonzero: ['routing_symbol', 'institution', 'check'],
  leading_zero: true,
  checksum: { expected: (values) => complement10(weightedSum(values, WEIGHTS)) },
  hasValidComponents: (values) => ABA_RANGES.view.is_prefix[(values[0] ?? 0) * 10 + (values[1] ?? 0)] === 1,
  componentFindings(value) {
    const range = { value, start: 0, end: 2 }
    return ABA_RANGES.view.ranges.has(value.slice(0, 2)) ? [] : [finding('bad_prefix', 'prefix', range, '00-12, 21-32, 61-72 or 80')]
  },
  facts({ routing_symbol, institution, check }, { value }) {
    const range = ABA_RANGES.view.ranges.get(value.slice(0, 2))
    const class_found = ABA_CLASSES.find((one) => one === range?.class)
    if (range === undefined || class_found === undefined) return null
    const { fed_district, fed_city } = range
    // The digits do not show whether a number serves only wires or only ACH.
    return { class: class_found, fed_district, fed_city, routing_symbol, institution, check_digit: check, wire_or_ach_only: null }
  },
})

/**
 * Checks an ABA routing transit number (American Bankers Association, Routing Number Administrative Policy; ANSI X9.100): nine digits, a
 * prefix that is in use, and a check digit by modulus 10 with the weights 3, 7 and 1. Spaces and hyphens are allowed.
 * Codes: empty, too_long_input, non_ascii_digits, bad_charset, bad_separator, bad_length, all_zero, bad_prefix, bad_checksum.
 *
 * Errs towards valid: a number that was never assigned, or was retired, passes when its check digit matches. Finds every single wrong
 * digit, but not a swap of neighbours that differ by 5.
 */
export function checkAba(text: string): Check<FactsOf<typeof ABA>> {
  return checkIdentifier(text, ABA)
}

/** Returns the same answer as `checkAba(text).valid`. */
export function isAba(text: string): boolean {
  return plainVerdict(text) ?? isIdentifier(text, ABA)
}

/** Returns the verdict on nine characters 0-9, the most frequent form; null for any other text. */
function plainVerdict(text: string): boolean | null {
  if (text.length !== LAYOUT.length) return null
  let sum = 0
  for (let index = 0; index < LAYOUT.length; index += 3) {
    const first = digitAt(text, index)
    const second = digitAt(text, index + 1)
    const third = digitAt(text, index + 2)
    // As an unsigned number, a character below "0" is above 9 as well.
    if (first >>> 0 > 9 || second >>> 0 > 9 || third >>> 0 > 9) return null
    sum += 3 * first + 7 * second + third
  }
  return sum !== 0 && sum % 10 === 0 && ABA_RANGES.view.is_prefix[digitAt(text, 0) * 10 + digitAt(text, 1)] === 1
}
