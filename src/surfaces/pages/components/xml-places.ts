import type { Range } from '../../../service/catalogue/answer-view.ts'

/**
 * Finds the ranges of XML elements by paths such as /Document/GrpHdr/NbOfTxs or /Document/PmtInf[2]: the text of an element that contains
 * only text, else its opening tag. One pass over the text; if the XML is not well-formed, ranges may be missing.
 */
export function elementPlaces(text: string, paths: Iterable<string>): Map<string, Range> {
  const wanted = new Map<string, string[]>()
  for (const path of paths) wanted.set(plainPath(path), [...(wanted.get(plainPath(path)) ?? []), path])
  const found = new Map<string, Range>()
  const open: Open[] = [{ path: '', tag: { start: 0, end: 0 }, bare: false, counts: new Map() }]
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const end = endOfMarkup(text, at)
    if (end === -1) break
    const mark = text.charAt(at + 1)
    const around = open.at(-1)
    if (around === undefined) break
    if (mark === '/') close(open, around, text, at)
    else if (mark !== '!' && mark !== '?') openElement(open, around, text, { start: at, end })
    at = end
  }
  return found

  function openElement(stack: Open[], parent: Open, source: string, tag: Range): void {
    const name = localName(source, tag.start + 1)
    const count = (parent.counts.get(name) ?? 0) + 1
    parent.counts.set(name, count)
    parent.bare = false
    const path = `${parent.path}/${name}${count === 1 ? '' : `[${count}]`}`
    const element = { path, tag, bare: true, counts: new Map<string, number>() }
    if (source.charAt(tag.end - 2) === '/') settle(element, tag)
    else stack.push(element)
  }

  function close(stack: Open[], element: Open, source: string, at: number): void {
    if (stack.length === 1) return
    stack.pop()
    const inner = { start: element.tag.end, end: at }
    settle(element, element.bare && source.slice(inner.start, inner.end).trim() !== '' ? inner : element.tag)
  }

  function settle({ path }: Open, range: Range): void {
    for (const asked of wanted.get(path) ?? []) found.set(asked, range)
  }
}

interface Open {
  path: string
  tag: Range
  /** It holds no other element. */
  bare: boolean
  /** Elements within it, by name. */
  counts: Map<string, number>
}

/** The first of its name may be counted or not. */
function plainPath(path: string): string {
  return path.replaceAll('[1]', '')
}

function localName(text: string, from: number): string {
  const name = /[^\s/>]*/y
  name.lastIndex = from
  const whole = name.exec(text)?.[0] ?? ''
  return whole.slice(whole.indexOf(':') + 1)
}

/** The end of what begins with `<` here; -1 when it does not end. */
function endOfMarkup(text: string, at: number): number {
  const until = (word: string) => {
    const end = text.indexOf(word, at)
    return end === -1 ? -1 : end + word.length
  }
  if (text.startsWith('<!--', at)) return until('-->')
  if (text.startsWith('<![CDATA[', at)) return until(']]>')
  if (text.startsWith('<?', at)) return until('?>')
  return endOfTag(text, at)
}

/** Returns the offset after the `>` that closes the tag, skipping quoted attribute values; -1 if there is none. */
function endOfTag(text: string, at: number): number {
  let quote = ''
  for (let index = at + 1; index < text.length; index++) {
    const character = text.charAt(index)
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (character === '>') return index + 1
  }
  return -1
}
