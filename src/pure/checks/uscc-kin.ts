/** Other Chinese numbers that are sent in place of a unified social credit code, and the one that it contains. */

/**
 * The check character of an organization code (GB 11714-1997): the first eight characters, letters as 10–35, with weights 3, 7, 9, 10,
 * 5, 8, 4, 2 modulo 11; ten is written X.
 */
export function organizationCheck(code: string): string {
  const weights = [3, 7, 9, 10, 5, 8, 4, 2]
  const sum = weights.reduce((total, weight, index) => total + weight * Number.parseInt(code.charAt(index), 36), 0)
  const check = (11 - (sum % 11)) % 11
  return check === 10 ? 'X' : `${check}`
}

/** A sentence when the value is built like another number; null otherwise. */
export function otherNumber(value: string): string | null {
  if (/^[0-9]{15}$/.test(value))
    return 'Fifteen digits are a registration number of before 2015, or an old citizen number; ask for the new code.'
  if (/^[0-9A-Z]{8}[0-9X]$/.test(value) && organizationCheck(value) === value.charAt(8))
    return 'Nine characters are an organization code, which is only one part of the code.'
  return isCitizenNumber(value) ? 'This is built like the identity number of a citizen, not like the code of an organization.' : null
}

/** GB 11643-1999: six digits of the division, date of birth, three digits, and a check character ISO 7064 MOD 11-2. */
export function isCitizenNumber(value: string): boolean {
  if (!/^[1-8][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9X]$/.test(value)) return false
  let remainder = 0
  for (let index = 0; index < 17; index++) remainder = ((remainder + Number.parseInt(value.charAt(index), 10)) * 2) % 11
  return '10X98765432'.charAt(remainder) === value.charAt(17)
}
