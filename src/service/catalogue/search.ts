import type { Family, Tool } from './define.ts'
import { editDistance } from '../../pure/documents/edit-distance.ts'

/** Search query for tools. */
export interface ToolQuery {
  /** Plain words, in any order; none find all. Only the first so many characters are read. */
  words: string
  /** Null looks in all families. */
  families: ReadonlySet<Family> | null
}

const WORDS_CHARS = 200
/** Weight of a word by the field in which it is found; a word that matches only as a prefix counts half. */
const WORTH = { id: 12, title: 6, family: 4, description: 2 } as const

/**
 * Tools by plain words, best first. A word counts in each field that has it, and less the more tools have it; related words of a task count
 * half. Tools of equal score keep the order of the catalogue; tools with none of the words are left out.
 */
export function searchTools(tools: readonly Tool[], { words, families }: ToolQuery): Tool[] {
  const asked = [...new Set(wordsOf(words.slice(0, WORDS_CHARS)))]
  const open = tools.filter(({ family }) => families === null || families.has(family))
  if (asked.length === 0) return open
  const related = asked.flatMap((word) => RELATED.get(word) ?? []).filter((word) => !asked.includes(word))
  const terms = [...asked.map((word) => ({ word, weight: 1 })), ...related.map((word) => ({ word, weight: 0.5 }))]
  const scores = new Map<Tool, number>()
  for (const { word, weight } of terms) {
    const found = open.map((tool) => ({ tool, worth: worthOf(tool, word) })).filter(({ worth }) => worth > 0)
    const rarity = Math.log(1 + open.length / found.length)
    for (const { tool, worth } of found) scores.set(tool, (scores.get(tool) ?? 0) + worth * weight * rarity)
  }
  const score = (tool: Tool) => scores.get(tool) ?? 0
  return open.filter((tool) => score(tool) > 0).toSorted((a, b) => score(b) - score(a))
}

/** Words of tools for words of tasks. */
const RELATED = new Map<string, readonly string[]>(
  Object.entries({
    supplier: ['vendor', 'payee'],
    seller: ['vendor', 'payee', 'counterparty'],
    vendor: ['payee'],
    pay: ['payee', 'paying', 'disbursement'],
    paying: ['payee', 'disbursement'],
    safe: ['guard', 'screens', 'risk'],
    scam: ['guard', 'screens', 'risk'],
    fraud: ['guard', 'screens', 'risk'],
    trust: ['counterparty', 'guard'],
    sanctioned: ['ofac', 'sdn', 'sanctions'],
    sanctions: ['ofac', 'sdn'],
    account: ['iban'],
    paid: ['settlement'],
    euro: ['eur', 'exchange'],
    wallet: ['address', 'balance'],
    delivered: ['delivery', 'pod'],
    apartment: ['rental', 'listing'],
    flat: ['rental', 'listing'],
    landlord: ['rental', 'deposit'],
  }),
)

function worthOf(tool: Tool, word: string): number {
  return Object.entries(WORTH).reduce((sum, [place, worth]) => sum + worth * match(word, wordsOf(tool[place as keyof typeof WORTH])), 0)
}

function match(word: string, words: readonly string[]): number {
  if (words.includes(word)) return 1
  return word.length >= 3 && words.some((known) => known.startsWith(word) || (known.length >= 4 && word.startsWith(known))) ? 0.5 : 0
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !COMMON.has(word))
}

/** Words that say nothing of what a tool is about. */
const COMMON = new Set([
  'the',
  'and',
  'for',
  'this',
  'that',
  'is',
  'it',
  'of',
  'to',
  'an',
  'my',
  'me',
  'in',
  'on',
  'or',
  'with',
  'please',
  'check',
  'tool',
])

/** The known name that a mistyped one is most likely to mean; null when none is within two edits. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > 64) return null
  let best: string | null = null
  let bestEdits = 3
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits]
  }
  return best
}
