/**
 * What the search of tools finds. The server and the browser ask the same, so that a search works without a script too: every word that
 * was typed must stand somewhere in the tool's own words, in any order. Case and accents do not count; a hyphen is a space.
 */

/** Longer searches are cut. */
export const QUERY_CHARS = 64

/** The words of a search; none of it is a pattern. */
export function searchWords(query: string): string[] {
  return plain(query.slice(0, QUERY_CHARS)).split(' ').filter(Boolean)
}

export function isFound(text: string, words: readonly string[]): boolean {
  const whole = plain(text)
  return words.every((word) => whole.includes(word))
}

/** How many tools there are to see, in words that are read out as they change. */
export function foundWords(found: number, all: number, words: readonly string[]): string {
  if (words.length === 0) return `${all} tools`
  if (found === 0) return 'No tool has all of these words.'
  return `${found} of ${all} tools ${found === 1 ? 'has' : 'have'} ${words.length === 1 ? 'this word' : 'all of these words'}`
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim()
}
