import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'

/**
 * Checks the wording of comments, user-facing texts and documents (docs/glossary.md): `node scripts/words.ts [path prefix …]` prints each
 * offence with its place and exits with 1 where there is one. `--count` prints only the number of offences per folder. `--texts` prints the
 * inventory instead: every sentence of the source that a person can be shown.
 */

interface WordRule {
  pattern: RegExp
  instead: string
}

const AVOIDED: readonly WordRule[] = [
  { pattern: /\b(?:stands?|stood)\b/i, instead: '"is", "applies", "appears"' },
  {
    pattern: /\b(?:holds? (?:for|in|true|at|good|of)\b|held against|what holds|still holds|(?:rule|bound) holds\b|that holds(?=[.,;]))/i,
    instead: '"is valid", "applies", "checked against"',
  },
  { pattern: /\b(?:bears?|bore|borne)\b/i, instead: '"has", "carries"' },
  { pattern: /\b(?:tells?|told)\b/i, instead: '"states", "reports", "shows", "distinguishes"' },
  { pattern: /\banew\b/i, instead: '"again"' },
  { pattern: /\blately\b/i, instead: '"recently", or the time span' },
  { pattern: /\boff it\b/i, instead: '"from it"' },
  { pattern: /\bupon\b/i, instead: '"on", "when"' },
  { pattern: /\b(?:go|goes|went|going) on\b/i, instead: '"continues"' },
  {
    pattern: /(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|later\b|earlier\b|larger\b|greater\b)/i,
    instead: '"is not a …", "there is no …", "has no …"',
  },
  { pattern: /\baffairs?\b/i, instead: 'the thing itself' },
  { pattern: /\bbeside\b/i, instead: '"and", "next to", "in addition to"' },
  { pattern: /\bcom(?:e|es|ing) to nothing\b/i, instead: '"fails", "has no effect"' },
  { pattern: /\bof (?:its|their|his|one's) own\b/i, instead: '"own", "separate"' },
  { pattern: /\bat once\b/i, instead: '"simultaneously", "immediately"' },
  { pattern: /\bfor one(?=[,.;:)]|$)/i, instead: '"for example"' },
  {
    pattern: /\b(?:nobody|somebody|whoever|whatever|strangers?|no one)\b/i,
    instead: 'the actor: "the caller", "another signer", "no client"',
  },
]

/** A doc comment starts with a verb or a noun phrase. */
const OPENING: WordRule = {
  pattern: /^(?:What|Who|Whose|Whom|Whoever|Whether|Where|Wherever|Nobody|Nothing|Somebody|How)\b/,
  instead: 'a verb or a noun phrase: "Returns …", "Queue of …"',
}

/** Texts quoted from a standard or fixed by the specification, and words in another sense, by file and phrase. */
const ALLOWED: readonly [file: RegExp, phrase: RegExp][] = [
  [/^docs\/glossary\.md$/, /./],
  [/^scripts\/words\.ts$/, /./],
  // Name of a Chinese authority.
  [/^scripts\/refresh-uscc-authorities\.ts$/, /Civil affairs/],
  [/^src\/pure\/documents\/distill\.ts$/, /^[a-z' ]+$/],
  // Each invoice contains the hash of this policy text, so its wording is part of the version.
  [/^src\/pure\/invoices\/terms\.ts$/, /Nobody can stop a transfer on the chain/],
]

interface Passage {
  line: number
  text: string
  kind: 'doc comment' | 'comment' | 'text' | 'document'
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function commentText(value: string): string {
  return value
    .replaceAll(/^\s*\*+ ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** A string that a person can be shown: several words that begin like a sentence or end like one. */
function isSentence(text: string): boolean {
  return /^\P{Ll}/u.test(text.trim()) ? /\p{L} \p{Ll}/u.test(text) : (text.match(/\p{Ll}{2,} \p{Ll}{2,}/gu)?.length ?? 0) >= 1
}

function strings(node: unknown, found: { start: number; text: string }[]): void {
  if (Array.isArray(node)) {
    for (const one of node) strings(one, found)
    return
  }
  if (typeof node !== 'object' || node === null) return
  const { type, start, value, quasis } = node as { type?: string; start: number; value?: unknown; quasis?: { value: { cooked: string } }[] }
  if (type === 'ImportDeclaration' || type === 'TSLiteralType') return
  if (type === 'Literal' && typeof value === 'string') found.push({ start, text: value })
  if (type === 'TemplateLiteral' && quasis !== undefined)
    found.push({ start, text: quasis.map(({ value: part }) => part.cooked).join('…') })
  for (const [key, child] of Object.entries(node)) if (key !== 'parent') strings(child, found)
}

function passagesOfSource(path: string, text: string): Passage[] {
  const { comments, program } = parseSync(path, text)
  const said = comments.map(({ value, start }) => ({
    line: lineOf(text, start),
    text: commentText(value),
    kind: value.startsWith('*') ? ('doc comment' as const) : ('comment' as const),
  }))
  const found: { start: number; text: string }[] = []
  strings(program, found)
  const shown = found.filter((one) => isSentence(one.text))
  return [...said, ...shown.map((one) => ({ line: lineOf(text, one.start), text: one.text, kind: 'text' as const }))]
}

/** Prose of a document, without code. */
function passagesOfDocument(text: string): Passage[] {
  // Code, and the titles of tests, which are quoted behind their file.
  const prose = text
    .replaceAll(/```[\s\S]*?```/g, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`(?: "[^"\n]*")?/g, '`code`')
  return prose.split('\n').map((line, index) => ({ line: index + 1, text: line, kind: 'document' }))
}

const DOCUMENTS = ['*.md', 'docs/**/*.md', 'deploy/**/*.md']
const SOURCES = ['src/**/*.ts', 'scripts/**/*.ts', 'bench/*.ts']

const options = process.argv.slice(2)
const prefixes = options.filter((option) => !option.startsWith('--'))
const files = globSync([...SOURCES, ...DOCUMENTS])
  .filter((path) => prefixes.length === 0 || prefixes.some((prefix) => path.startsWith(prefix)))
  .toSorted()
function passagesOf(path: string): Passage[] {
  const text = readFileSync(path, 'utf8')
  return path.endsWith('.md') ? passagesOfDocument(text) : passagesOfSource(path, text)
}

function offencesOf(path: string, passage: Passage): string[] {
  const rules = passage.kind === 'doc comment' ? [OPENING, ...AVOIDED] : AVOIDED
  return rules.flatMap(({ pattern, instead }) => {
    const hit = pattern.exec(passage.text)
    if (hit === null || ALLOWED.some(([file, phrase]) => file.test(path) && phrase.test(passage.text))) return []
    const around = passage.text.slice(Math.max(0, hit.index - 40), hit.index + 60)
    return [`${path}:${passage.line} ${passage.kind}: "${hit[0].trim()}" in "${around}" (write ${instead})`]
  })
}

function printOffences(): number {
  const offences = files.flatMap((path) => passagesOf(path).flatMap((passage) => offencesOf(path, passage).map((text) => ({ path, text }))))
  if (options.includes('--count')) {
    const counts = Map.groupBy(offences, ({ path }) => path.split('/').slice(0, 3).join('/'))
    for (const [folder, { length }] of [...counts].toSorted(([, one], [, other]) => other.length - one.length))
      console.log(`${String(length).padStart(6)}  ${folder}`)
  } else {
    for (const { text } of offences) console.log(text)
  }
  console.log(`${offences.length} offences in ${files.length} files`)
  return offences.length
}

function printTexts(): void {
  for (const path of files)
    for (const { line, text, kind } of passagesOf(path))
      if (kind === 'text') console.log(`${path}:${line}\t${text.replaceAll(/\s+/g, ' ')}`)
}

if (options.includes('--texts')) printTexts()
else process.exitCode = printOffences() > 0 ? 1 : 0
