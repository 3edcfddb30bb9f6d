import type { Headline, HeadlineRule, HeadlineTone, Scalar } from '../../pure/headline.ts'

/** Rules of a check that judges one value; used by every tool that states none. */
export const CHECK_HEADLINES: readonly HeadlineRule[] = [
  { when: { verdict: 'valid' }, tone: 'good', word: 'valid' },
  { when: { verdict: 'well_formed_unverifiable' }, tone: 'caution', word: 'well formed, not verifiable', code: 'unverifiable' },
  { when: { verdict: 'invalid' }, tone: 'bad', word: 'invalid' },
]

/** Rules after the tool's own: a decision that no rule names is shown as it is, never hidden. */
const LAST_RULES: readonly HeadlineRule[] = [
  ...['decision', 'verdict', 'status', 'band'].map((name) => ({ tone: 'neutral', word: `{${name}}`, badge: 'see receipt' }) as const),
  { when: { valid: true }, tone: 'good', word: 'valid' },
  { when: { valid: false }, tone: 'bad', word: 'invalid' },
  { tone: 'neutral', word: 'no verdict', badge: 'see receipt' },
]

/** A longer word is cut: a balance may have 78 digits. */
const WORD_CHARS = 60

/** `{path}` or `{path|item|items}`. */
const PLACEHOLDER = /\{([\w.]{1,60})(?:\|([^{|}]{0,40})\|([^{|}]{0,40}))?\}/

type Fill = (result: unknown) => string | null
type ReadHeadline = (result: unknown) => Headline

/** Returns a function that reads the headline of a result by these rules. */
export function headlineReader(rules: readonly HeadlineRule[]): ReadHeadline {
  const compiled = [...rules, ...LAST_RULES].map(compileRule)
  return (result) => {
    for (const read of compiled) {
      const headline = read(result)
      if (headline !== null) return headline
    }
    throw new Error('the last rule fits every result')
  }
}

/** Headline of a single check, such as one item of a batch or one value of a pack. */
export const checkHeadline: ReadHeadline = headlineReader(CHECK_HEADLINES)

/** Words and tones that a badge may show, by the code in its address. */
export function badgesOf(rules: readonly HeadlineRule[]): ReadonlyMap<string, { word: string; tone: HeadlineTone }> {
  return new Map(
    [...rules, ...LAST_RULES].map((rule) => [codeOf(rule), { word: rule.badge ?? rule.word, tone: rule.tone }] as const).toReversed(),
  )
}

function codeOf({ code, badge, word }: HeadlineRule): string {
  return (
    code ??
    (badge ?? word)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
  )
}

function compileRule(rule: HeadlineRule): (result: unknown) => Headline | null {
  const { tone } = rule
  const code = codeOf(rule)
  const conditions = Object.entries(rule.when ?? {}).map(([path, value]) => ({
    path: path.split('.'),
    allowed: Array.isArray(value) ? (value as readonly Scalar[]) : [value as Scalar],
  }))
  const word = template(rule.word)
  const sentence = template(rule.sentence ?? '{reason}')
  return (result) => {
    if (!conditions.every(({ path, allowed }) => (allowed as readonly unknown[]).includes(memberAt(result, path)))) return null
    const filled = word(result)
    if (filled === null) return null
    return {
      tone,
      word: filled.length > WORD_CHARS ? `${filled.slice(0, WORD_CHARS).toWellFormed()}…` : filled,
      sentence: sentence(result) ?? '',
      code,
    }
  }
}

/** Compiles a template; the function returns null when the result lacks a member that the template names. */
function template(text: string): Fill {
  const pieces = text.split(PLACEHOLDER)
  if (pieces.length === 1) return () => text
  return (result) => {
    let filled = pieces[0] ?? ''
    for (let at = 1; at < pieces.length; at += 4) {
      const value = shown(memberAt(result, (pieces[at] ?? '').split('.')), pieces[at + 1], pieces[at + 2])
      if (value === null) return null
      filled += value + (pieces[at + 3] ?? '')
    }
    return filled
  }
}

function shown(value: unknown, one: string | undefined, many: string | undefined): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  return many === undefined ? String(value) : `${value} ${String(value) === '1' ? one : many}`
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}
