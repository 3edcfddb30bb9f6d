/** Start of a formula in some spreadsheet: the signs, their full-width forms, and `|` of Dynamic Data Exchange. */
const FORMULA = /^\s*[=+\-@|\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/
/** Spreadsheets that separate lists by semicolon or tab split there despite quotes, so the rest starts another cell. */
const INNER_FORMULA = /([;\t])(?=\s*[=+\-@|\uff1d\uff0b\uff0d\uff20])/g

/**
 * CSV cell (RFC 4180, October 2005) for untrusted text. Text that a spreadsheet would run as a formula gets an apostrophe in front, so that
 * it is displayed instead (OWASP, "CSV Injection", 2024). Do not use for amounts: a minus sign would be taken for a formula.
 */
export function csvText(text: string): string {
  return csvQuoted((FORMULA.test(text) ? `'${text}` : text).replace(INNER_FORMULA, "$1'"))
}

/** CSV cell for text that cannot start a formula. */
export function csvQuoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
