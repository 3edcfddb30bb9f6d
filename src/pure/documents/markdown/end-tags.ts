import { ENDS_PARAGRAPH, FORMATTING, roleOf, SPECIAL } from './elements.ts'
import type { OpenElements } from './open-elements.ts'

/** What a tag ends: everything from a position on, or one formatting element alone. */
export type Ending = { kind: 'nothing' } | { kind: 'from'; at: number } | { kind: 'alone' }

const NOTHING: Ending = { kind: 'nothing' }
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const DEFINITIONS = ['dd', 'dt']
const CELLS = ['td', 'th']
const SECTIONS = ['thead', 'tbody', 'tfoot']

function from(at: number, bound: number): Ending {
  return at >= 0 && at > bound ? { kind: 'from', at } : NOTHING
}

/** What an end tag ends, by the scopes of the HTML standard. */
export function endedByEndTag(name: string, open: OpenElements): Ending {
  const role = roleOf(name)
  const at = role === 'heading' ? open.lastOf(HEADINGS) : open.last(name)
  if (at < 0) return NOTHING
  // What is left out must not swallow what follows, whatever was left open inside.
  if (role === 'dropped' || role === 'table') return from(at, -1)
  if (role === 'section' || role === 'row' || role === 'cell') return from(at, open.last('table'))
  if (FORMATTING.has(name)) return at <= open.lastBarrier ? NOTHING : at > open.lastSpecial ? from(at, -1) : { kind: 'alone' }
  if (SPECIAL.has(name)) return from(at, open.lastBarrier - 1)
  return from(at, open.lastSpecial)
}

/** What a start tag ends before it opens its own element; asked again until it is nothing. */
export function endedByStartTag(name: string, open: OpenElements): Ending {
  const by_kin = endedByKin(name, open)
  if (by_kin.kind !== 'nothing' || !ENDS_PARAGRAPH.has(name)) return by_kin
  const paragraph = from(open.last('p'), open.lastBarrier)
  if (paragraph.kind !== 'nothing' || roleOf(name) !== 'heading' || open.top === undefined) return paragraph
  return HEADINGS.includes(open.top) ? from(open.size - 1, -1) : NOTHING
}

function endedByKin(name: string, open: OpenElements): Ending {
  switch (name) {
    case 'li':
      return from(open.last('li'), open.lastStop - 1)
    case 'dd':
    case 'dt':
      return from(open.lastOf(DEFINITIONS), open.lastStop - 1)
    case 'td':
    case 'th':
    case 'tr':
    case 'thead':
    case 'tbody':
    case 'tfoot':
    case 'caption':
    case 'table':
      return endedInTable(name, open)
    case 'option':
    case 'optgroup':
      return open.top === 'option' || open.top === name ? from(open.size - 1, -1) : NOTHING
    case 'button':
      return from(open.last('button'), open.lastBarrier)
    case 'a':
      return endedByEndTag('a', open)
    default:
      return NOTHING
  }
}

/** Parts of a table end the parts of their own kind, and what is smaller. */
function endedInTable(name: string, open: OpenElements): Ending {
  const table = open.last('table')
  if (table < 0) return NOTHING
  // A table right inside another one, and not in a cell, is the next one.
  if (name === 'table') return open.lastBarrier === table ? from(table, -1) : NOTHING
  const inner = [open.lastOf(CELLS), open.last('caption')]
  if (name !== 'td' && name !== 'th') inner.push(open.last('tr'))
  if (name !== 'td' && name !== 'th' && name !== 'tr') inner.push(open.lastOf(SECTIONS))
  return from(firstOf(table, inner), table)
}

/** The outermost of the positions inside the bound. */
function firstOf(bound: number, positions: readonly number[]): number {
  return positions.reduce((found, at) => (at > bound && (found < 0 || at < found) ? at : found), -1)
}
