import { type Check, finding, type Finding, type IdentifierPart, lengthFinding, type Validation } from './verdict.ts'
import { labelInFront, type NormalizeOptions, pairIndex, pairIndexOf } from './normalize.ts'
import { foreignCharacterFindings, checkText, booleanCheck } from './check-text.ts'
import { COUNTRIES, JURISDICTIONS_AS_OF, sanctionsHint } from './countries.ts'

/** Connection to the network that the eighth character once indicated. */
type ConnectionHint = 'test_and_training' | 'passive_participant' | 'reverse_billing'

/** Dates of the tables that an answer is read from. */
export const BIC_DATA_AS_OF = JURISDICTIONS_AS_OF

const OPTIONS: NormalizeOptions = {
  separators: ' -',
  prefixes: ['BIC:', 'SWIFT:'],
  // Always a label: BICs are printed in groups of 4+2+2+3, so `BIC BNPAF1PP` is a label and a code, and not one code of Nepal.
  label: labelInFront(['BIC(?: ?[/(] ?SWIFT\\)?)?', 'SWIFT(?: ?[/(] ?BIC\\)?|[ -]BIC)?'], () => true),
  field: 'bic',
}
const SUCCESS_REASON = 'Structure and country are valid; this does not show that the code is registered.'
const PARTY_CHARS = 8
const BRANCH_CHARS = 11
const HEAD_OFFICE = 'XXX'
const HINTS: Readonly<Record<string, ConnectionHint>> = { 0: 'test_and_training', 1: 'passive_participant', 2: 'reverse_billing' }
const PARTS: readonly IdentifierPart[] = [
  { label: 'party_prefix', start: 0, end: 4 },
  { label: 'country', start: 4, end: 6 },
  { label: 'party_suffix', start: 6, end: PARTY_CHARS },
  { label: 'branch', start: PARTY_CHARS, end: BRANCH_CHARS },
].map((part) => Object.freeze(part))

/** 1 for each pair of letters that is a country. */
const IS_COUNTRY = new Uint8Array(26 * 26)
for (const alpha2 of COUNTRIES.keys()) IS_COUNTRY[pairIndexOf(alpha2)] = 1

/** Returns the same answer as `checkBic(text).valid`. */
export const isBic = booleanCheck(OPTIONS, new Uint8Array(BRANCH_CHARS), 36, matchesFormat)

function matchesFormat(values: Uint8Array, length: number): boolean {
  if (length !== PARTY_CHARS && length !== BRANCH_CHARS) return false
  return IS_COUNTRY[pairIndex(values[4] ?? 0, values[5] ?? 0)] === 1
}

/**
 * Checks a Business Identifier Code (ISO 9362:2022): four letters or digits, a country of ISO 3166 or XK, two
 * letters or digits, and optionally three more for a branch. There is no checksum, so a mistyped code often passes.
 */
export function checkBic(text: string): Check<BicFacts> {
  return checkText(text, { options: OPTIONS, success_reason: SUCCESS_REASON, isValid: isBic, validate })
}

function validate(value: string): Validation<BicFacts> {
  const findings = formatFindings(value)
  if (findings.length > 0) return { findings }
  const facts = bicFacts(value)
  return { unverifiable: true, findings, warnings: bicWarnings(value, facts), facts }
}

function formatFindings(value: string): Finding[] {
  const foreign = foreignCharacterFindings(value, 'bic')
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
    const message = 'Among branch codes, only XXX (the head office) begins with X.'
    warnings.push(finding('bad_component', 'branch', { value, start: PARTY_CHARS, end: BRANCH_CHARS }, HEAD_OFFICE, message))
  }
  if (test) warnings.push(finding('test_only', 'party_suffix', { value, start: 7, end: 8 }, null))
  return warnings
}

function bicFacts(value: string) {
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

export type BicFacts = ReturnType<typeof bicFacts>
