import { characterFindings, pairIndex, pairIndexOf } from './characters.ts'
import { finding, lengthFinding, type Judgement, type Part } from './check-result.ts'
import { checkText } from './check-text.ts'
import { COUNTRIES } from './countries.ts'
import { inFront, type NormalizeOptions } from './normalize.ts'
import { passes, type Reading } from './reading.ts'
import { sanctionsHint, SANCTIONS_AS_OF, type SanctionsHint } from './sanctions.ts'
import type { Check, Finding } from './verdict.ts'

/** What the eighth character once told about the connection to the network. */
type ConnectionHint = 'test_and_training' | 'passive_participant' | 'reverse_billing'

export interface BicFacts {
  party_prefix: string
  country: string
  country_name: string
  country_alpha3: string
  party_suffix: string
  /** Null in a code of eight characters, which means the head office. */
  branch: string | null
  bic8: string
  bic11: string
  head_office: boolean
  /** The eighth character is 0: a code for tests and training, by SWIFT's custom. */
  test: boolean
  /** By SWIFT's older custom; ISO 9362 no longer promises it. */
  connection_hint: ConnectionHint | null
  numeric_prefix: boolean
  sanctions: SanctionsHint | null
  parts: Part[]
}

/** Dates of the tables that an answer is read from. */
export const BIC_DATA_AS_OF = { sanctioned_countries: SANCTIONS_AS_OF } as const

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['BIC:', 'SWIFT:'],
  // Whatever follows: nobody parts a code behind its third or fifth character, and read together BIC BNPAF1PP would be a code of Nepal.
  label: inFront(['BIC(?: ?[/(] ?SWIFT\\)?)?', 'SWIFT(?: ?[/(] ?BIC\\)?|[ -]BIC)?'], () => true),
  field: 'bic',
}
const PRAISE = 'Structure and country hold; nothing here shows that the code is registered.'
const PARTY_CHARS = 8
const BRANCH_CHARS = 11
const HEAD_OFFICE = 'XXX'
const HINTS: Readonly<Record<string, ConnectionHint>> = { 0: 'test_and_training', 1: 'passive_participant', 2: 'reverse_billing' }
const PARTS: readonly Part[] = [
  { label: 'party_prefix', start: 0, end: 4 },
  { label: 'country', start: 4, end: 6 },
  { label: 'party_suffix', start: 6, end: PARTY_CHARS },
  { label: 'branch', start: PARTY_CHARS, end: BRANCH_CHARS },
].map((part) => Object.freeze(part))

/** 1 for each pair of letters that is a country. */
const IS_COUNTRY = new Uint8Array(26 * 26)
for (const alpha2 of COUNTRIES.keys()) IS_COUNTRY[pairIndexOf(alpha2)] = 1

const READING: Reading = { options: OPTIONS, values: new Uint8Array(BRANCH_CHARS), first_below: 36, holds }

/** Whether the text is a BIC by structure and country. Always the same answer as `checkBic(text).valid`. */
export function isBic(text: string): boolean {
  return passes(text, READING)
}

function holds(read: Uint8Array, length: number): boolean {
  if (length !== PARTY_CHARS && length !== BRANCH_CHARS) return false
  return IS_COUNTRY[pairIndex(read[4] ?? 0, read[5] ?? 0)] === 1
}

/**
 * Decides whether text is a Business Identifier Code (ISO 9362:2022): four letters or digits, a country of ISO 3166 or XK, two
 * letters or digits, and optionally three more for a branch. There is no checksum, so a mistyped code often passes.
 */
export function checkBic(text: string): Check<BicFacts> {
  return checkText(text, { options: OPTIONS, praise: PRAISE, passes: isBic, judge })
}

function judge(value: string): Judgement<BicFacts> {
  const findings = shapeFindings(value)
  if (findings.length > 0) return { findings }
  const facts = bicFacts(value)
  return { unverifiable: true, findings, warnings: bicWarnings(value, facts), facts }
}

function shapeFindings(value: string): Finding[] {
  const foreign = characterFindings(value, 'bic')
  if (foreign.length > 0) return foreign
  if (value.length !== PARTY_CHARS && value.length !== BRANCH_CHARS) return [lengthFinding('bic', value, '8 or 11 characters')]
  const country = { value, start: 4, end: 6 }
  if (!/^.{4}[A-Z]{2}/.test(value)) return [finding('bad_structure', 'country', country, 'two letters')]
  return COUNTRIES.has(value.slice(4, 6)) ? [] : [finding('bad_country', 'country', country, null)]
}

function bicWarnings(value: string, { numeric_prefix, test, branch, head_office }: BicFacts): Finding[] {
  const warnings: Finding[] = []
  if (numeric_prefix) {
    const message = 'ISO 9362:2022 allows digits here, but codes in use on the SWIFT network have letters.'
    warnings.push(finding('bad_structure', 'party_prefix', { value, start: 0, end: 4 }, 'letters', message))
  }
  if (branch?.startsWith('X') === true && !head_office) {
    const message = 'Only XXX, the head office, used to begin with X.'
    warnings.push(finding('bad_component', 'branch', { value, start: PARTY_CHARS, end: BRANCH_CHARS }, HEAD_OFFICE, message))
  }
  if (test) warnings.push(finding('test_only', 'party_suffix', { value, start: 7, end: 8 }, null))
  return warnings
}

function bicFacts(value: string): BicFacts {
  const country = value.slice(4, 6)
  const bic8 = value.slice(0, PARTY_CHARS)
  const branch = value.length === BRANCH_CHARS ? value.slice(PARTY_CHARS) : null
  const party_prefix = value.slice(0, 4)
  const connection_hint = HINTS[value.charAt(7)] ?? null
  return {
    party_prefix,
    country,
    country_name: COUNTRIES.get(country)?.name ?? country,
    country_alpha3: COUNTRIES.get(country)?.alpha3 ?? '',
    party_suffix: value.slice(6, PARTY_CHARS),
    branch,
    bic8,
    bic11: bic8 + (branch ?? HEAD_OFFICE),
    head_office: branch === null || branch === HEAD_OFFICE,
    test: connection_hint === 'test_and_training',
    connection_hint,
    numeric_prefix: /[0-9]/.test(party_prefix),
    sanctions: sanctionsHint(country),
    parts: PARTS.filter(({ end }) => end <= value.length),
  }
}
