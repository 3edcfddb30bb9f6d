/** Cells of CSV (RFC 4180, October 2005) that a spreadsheet shows and does not run. */

/** What begins a formula in some spreadsheet: the signs, their full-width forms, and the bar of old dynamic data exchange. */
const FORMULA = /^\s*[=+\-@|\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/
/** Where lists are parted by semicolons or tabs a program splits there whatever the quotes say, and the rest begins a cell of its own. */
const INNER_FORMULA = /([;\t])(?=\s*[=+\-@|\uff1d\uff0b\uff0d\uff20])/g

/**
 * A text as a cell. One that a spreadsheet would run as a formula gets an apostrophe before it (OWASP, "CSV Injection", 2024), so that it is
 * shown instead. Numbers that are ours are not for this function: a minus would be taken for a formula.
 */
export function csvText(text: string): string {
  return csvQuoted((FORMULA.test(text) ? `'${text}` : text).replace(INNER_FORMULA, "$1'"))
}

/** A text that can start no formula as a cell. */
export function csvQuoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
