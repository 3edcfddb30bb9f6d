import { checkIdentifier, defineIdentifier, type FactsOf, isIdentifier, readLayout } from './identifier.ts'
import { labelInFront } from './normalize.ts'
import { type Check, finding } from './verdict.ts'

const LAYOUT = readLayout('cnpj', 'root:8X branch:4X check:2N')
const CHECK_AT = LAYOUT.at.check.start

const CNPJ = defineIdentifier({
  layout: LAYOUT,
  separators: ' -./',
  prefixes: ['CNPJ:'],
  label: labelInFront(['CNPJ(?:/MF)?(?: N[º°])?'], (value) => /^[0-9A-Z]{12}[0-9]{2}$/.test(value)),
  success_reason: 'Both check digits are valid; the register was not queried.',
  nonzero: ['root', 'branch'],
  leading_zero: true,
  checksum: { expected: expectedCheck },
  lengthHint: (value) =>
    isCpf(value) ? 'Eleven digits that are valid as a CPF, the number of a natural person; companies have a CNPJ.' : null,
  facts: ({ root, branch, check }, { value }) => ({
    root,
    branch,
    is_head_office: branch === '0001',
    check_digits: check,
    alphanumeric: /[A-Z]/.test(value),
    print_form: `${root.slice(0, 2)}.${root.slice(2, 5)}.${root.slice(5)}/${branch}-${check}`,
  }),
  warnings(value) {
    const first = value.search(/[FIOQU]/)
    if (first < 0) return []
    const message = 'The rule allows every letter, but some programs reject F, I, O, Q and U.'
    return [finding('reserved_range', 'cnpj', { value, start: first, end: first + 1 }, null, message)]
  },
})

export type CnpjFacts = FactsOf<typeof CNPJ>

/**
 * Checks a Brazilian CNPJ (Receita Federal; IN RFB 2229/2024 adds letters from July 2026): eight characters for the enterprise, four for
 * the establishment, two check digits modulo 11 with the weights 2 to 9. Spaces, dots, the slash and hyphens are allowed. All letters A-Z
 * are accepted; I, O, Q, U and F, which some programs reject, are a warning. Errs towards valid: a number that was never issued passes, and
 * remainders 0 and 1 share the digit 0, so a few single mistakes go unnoticed.
 */
export function checkCnpj(text: string): Check<CnpjFacts> {
  return checkIdentifier(text, CNPJ)
}

/** Returns the same answer as `checkCnpj(text).valid`. */
export function isCnpj(text: string): boolean {
  return isIdentifier(text, CNPJ)
}

/** Both digits: weights 2 to 9 from the right, repeating; a character counts its ASCII code less 48, so A is 17. */
function expectedCheck(values: Uint8Array): number {
  let first = 0
  let second = 0
  for (let index = 0; index < CHECK_AT; index++) {
    const value = values[index] ?? 0
    const worth = value < 10 ? value : value + 7
    first += worth * (2 + ((11 - index) % 8))
    second += worth * (2 + ((12 - index) % 8))
  }
  const tens = checkDigit(first)
  return tens * 10 + checkDigit(second + tens * 2)
}

function checkDigit(sum: number): number {
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}

/** Two digits modulo 11 with the weights 2 upward from the right; a CPF of one repeated digit is never issued. */
function isCpf(value: string): boolean {
  if (!/^(?!([0-9])\1{10})[0-9]{11}$/.test(value)) return false
  const digit = (end: number) => {
    let sum = 0
    for (let index = 0; index < end; index++) sum += Number(value.charAt(index)) * (end + 1 - index)
    return `${checkDigit(sum)}`
  }
  return value.slice(9) === digit(9) + digit(10)
}
