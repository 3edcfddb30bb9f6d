/**
 * At most this many UTF-16 units of a text, where a cut is marked by the last of them. A character of two units is never cut in half: half of it
 * has no canonical text, so an answer with it could not be signed.
 */
export function cutText(text: string, most: number, mark = '…'): string {
  if (text.length <= most) return text
  return text.slice(0, most - mark.length).replace(/[\ud800-\udbff]$/, '') + mark
}
