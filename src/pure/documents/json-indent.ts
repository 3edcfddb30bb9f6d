import { isEscaped } from './strict-json-scan.ts'

/**
 * Lays a JSON text out, two spaces a level. Only white space changes: every token stays as it was written, so that numbers keep their
 * literals and keys their order. The text must be JSON that strict reading has passed; of any other the tokens stay all the same. Takes
 * time in proportion to what it writes.
 */
export function indentJson(text: string): string {
  const pieces: string[] = []
  let depth = 0
  let position = 0
  const line = () => `\n${'  '.repeat(Math.max(0, depth))}`
  while (position < text.length) {
    const end = tokenEnd(text, position)
    const token = text.slice(position, end)
    position = end
    if (token.trim() === '') continue
    if (token === '{' || token === '[') {
      const next = skipped(text, end)
      if (text.charAt(next) === (token === '{' ? '}' : ']')) {
        pieces.push(token, text.charAt(next))
        position = next + 1
        continue
      }
      depth++
      pieces.push(token, line())
    } else if (token === '}' || token === ']') {
      depth--
      pieces.push(line(), token)
    } else if (token === ',') pieces.push(token, line())
    else pieces.push(token === ':' ? ': ' : token)
  }
  return pieces.join('')
}

const SPACE = ' \t\n\r'
const MARKS = '{}[],:'
const ENDS = `${SPACE}${MARKS}"`

function tokenEnd(text: string, start: number): number {
  const mark = text.charAt(start)
  if (MARKS.includes(mark)) return start + 1
  if (SPACE.includes(mark)) return skipped(text, start)
  let end = start + 1
  if (mark === '"') {
    end = text.indexOf('"', end)
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
    return end === -1 ? text.length : end + 1
  }
  while (end < text.length && !ENDS.includes(text.charAt(end))) end++
  return end
}

function skipped(text: string, start: number): number {
  let at = start
  while (at < text.length && SPACE.includes(text.charAt(at))) at++
  return at
}
