/**
 * Shortens a text to at most `most` UTF-16 units, including the mark. A surrogate pair is never split: half of it has no canonical text,
 * so the answer could not be signed.
 */
export function cutText(text: string, most: number, mark = '…'): string {
  if (text.length <= most) return text
  return text.slice(0, most - mark.length).replace(/[\ud800-\udbff]$/, '') + mark
}
