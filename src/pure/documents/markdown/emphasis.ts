import type { Token } from './settle.ts'

type Mark = Extract<Token, { pair: number }> & { node: { kind: 'strong' | 'em' | 'del' } }

const STARS = { strong: 2, em: 1, del: 0 } as const

/**
 * Kinds of neighbours of a run of `*` or `~`, as CommonMark tells them apart. Versions and readers differ on symbols and on some white
 * space: those are `odd`, and count for nothing.
 */
type Neighbour = 'space' | 'punctuation' | 'odd' | 'letter'

/**
 * Numbers of the formats that Markdown cannot show where they stand (in the middle of a word, next to punctuation, one right after
 * another): their marks would be read as text. Links are always fit. Errs towards leaving a format out, its text stays.
 */
export function unfitFormats(tokens: readonly Token[]): ReadonlySet<number> {
  const unfit = new Set<number>()
  /** Of each open format of stars, how many its group has. */
  const stars = new Map<number, number>()
  for (let at = 0; at < tokens.length; at++) {
    const group = groupAt(tokens, at)
    if (group.length === 0) continue
    const [before, after] = [endOf(tokens[at - 1]), beginningOf(tokens[at + group.length])]
    const mixed = new Set(group.map(({ node }) => node.kind === 'del')).size > 1
    const closes = group.some(({ token }) => token === 'close')
    const opens_here = !closes && fits(after, before, mixed) && !([...stars.values()].includes(3) && mayClose(before, after, mixed))
    const closes_here = fits(before, after, mixed)
    const width = group.reduce((sum, { node }) => sum + STARS[node.kind], 0)
    for (const { token, pair, node } of group) {
      if (!(token === 'open' ? opens_here : closes_here)) unfit.add(pair)
      if (token === 'close') stars.delete(pair)
      else if (opens_here && node.kind !== 'del') stars.set(pair, width)
    }
    at += group.length - 1
  }
  return unfit
}

/**
 * Whether a reader may take marks that open for marks that close. Where both can be, lengths that add up to a multiple of three do not
 * belong together (CommonMark 0.31, rules 9 and 10). So ** in * and * in ** are safe, but either would close what is left of a ***. Stars
 * beside tildes have punctuation there.
 */
function mayClose(before: Neighbour, after: Neighbour, mixed: boolean): boolean {
  return mixed || (before !== 'space' && (before !== 'punctuation' || after !== 'letter'))
}

/** Marks that stand side by side are one group: whether they work depends on what is left and right of all of them. */
function groupAt(tokens: readonly Token[], start: number): Mark[] {
  const group: Mark[] = []
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined || !isMark(token)) break
    group.push(token)
  }
  return group
}

function isMark(token: Token): token is Mark {
  return (token.token === 'open' || token.token === 'close') && token.node.kind !== 'link'
}

function fits(inner: Neighbour, outer: Neighbour, mixed: boolean): boolean {
  if (inner === 'letter' && !mixed) return true
  return inner !== 'space' && inner !== 'odd' && (outer === 'space' || outer === 'punctuation')
}

function endOf(token: Token | undefined): Neighbour {
  if (token?.token === 'text') return kindOf(token.text.slice(-2).match(/.$/su)?.[0])
  return token === undefined || token.token === 'break' ? 'space' : 'punctuation'
}

function beginningOf(token: Token | undefined): Neighbour {
  if (token?.token === 'text') return kindOf(token.text.slice(0, 2).match(/^./su)?.[0])
  return token === undefined ? 'space' : 'punctuation'
}

function kindOf(character: string | undefined): Neighbour {
  if (character !== undefined && /^[0-9A-Za-z]$/.test(character)) return 'letter'
  if (character === undefined || /[\t\n\f\r\p{Zs}]/u.test(character)) return 'space'
  if (/\s/.test(character)) return 'odd'
  if (/[\p{P}$+<=>^`|~]/u.test(character)) return character.length === 1 ? 'punctuation' : 'odd'
  return /\p{S}/u.test(character) ? 'odd' : 'letter'
}
