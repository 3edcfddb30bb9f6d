import type { Family, Tool } from './define.ts'

/** What is looked for. */
export interface ToolQuery {
  /** Plain words, in any order; none find all. Only the first so many characters are read. */
  words: string
  /** Null looks in all families. */
  families: ReadonlySet<Family> | null
}

const WORDS_CHARS = 200
/** What a word is worth, by where it stands; a word that only begins alike is worth half. */
const WORTH = { id: 12, title: 6, family: 4, description: 2 } as const

/**
 * Tools by plain words, best first: each word counts once for each place that has it. Deterministic: what is worth the same stays in the
 * order of the catalogue. Tools that have none of the words are left out.
 */
export function searchTools(tools: readonly Tool[], { words, families }: ToolQuery): Tool[] {
  const asked = [...new Set(wordsOf(words.slice(0, WORDS_CHARS)))]
  const open = tools.filter(({ family }) => families === null || families.has(family))
  if (asked.length === 0) return open
  return open
    .map((tool) => ({ tool, worth: worthOf(tool, asked) }))
    .filter(({ worth }) => worth > 0)
    .toSorted((a, b) => b.worth - a.worth)
    .map(({ tool }) => tool)
}

function worthOf(tool: Tool, asked: readonly string[]): number {
  const places = Object.entries(WORTH).map(([place, worth]) => ({ worth, words: wordsOf(tool[place as keyof typeof WORTH]) }))
  return asked.reduce((sum, word) => sum + places.reduce((own, place) => own + place.worth * match(word, place.words), 0), 0)
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
