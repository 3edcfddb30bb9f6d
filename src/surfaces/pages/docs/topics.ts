import { readFileSync } from 'node:fs'
import { readGuide, type Conditions, type Guide } from './markdown.ts'
import { VALUES } from './values.ts'

/** A page of the documentation. */
export interface Topic extends Guide {
  /** Last part of its address; empty for `/docs` itself. */
  id: string
}

/** Conditions of chapters and blocks. */
const CONDITIONS: Conditions = {
  payments: (deps) => deps.takes_payments,
  no_payments: (deps) => !deps.takes_payments,
  sandbox_chain: (deps) => deps.sandbox !== null,
  no_sandbox_chain: (deps) => deps.sandbox === null,
}

const FOLDER = new URL('../../../../docs/guide/', import.meta.url)
const START = 'quickstart'

function topics(...names: string[]): Topic[] {
  return names.map((name) => {
    const text = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8')
    return { id: name === START ? '' : name, ...readGuide(name, text, VALUES, CONDITIONS) }
  })
}

/** The topics in the order in which they are read. */
export const GROUPS: readonly { title: string; topics: readonly Topic[] }[] = [
  { title: 'Call', topics: topics(START, 'journeys', 'rest', 'mcp', 'a2a', 'cli', 'client') },
  { title: 'Know', topics: topics('prices', 'payment', 'receipts', 'audit', 'errors', 'invoices', 'webhooks') },
  { title: 'Rule books', topics: topics('pol-1', 'pod-1', 'csp-1', 'dip-1', 'micro-ast') },
  { title: 'Run', topics: topics('going-live') },
]

const used = new Set(GROUPS.flatMap((group) => group.topics.flatMap(({ names }) => [...names])))
const unused = Object.keys({ ...VALUES, ...CONDITIONS }).filter((name) => !used.has(name))
if (unused.length > 0) throw new Error(`no guide uses: ${unused.join(', ')}`)

export const REFERENCE = { id: 'reference', title: 'API reference', words: 'Every operation, from the OpenAPI document.' }

/** Guides for the search. */
export function guideList(): { href: string; title: string; text: string }[] {
  const list = [...GROUPS.flatMap((group) => group.topics), REFERENCE]
  return list.map((topic) => ({ href: topicPath(topic), title: topic.title, text: topic.words }))
}

/** The address of a topic. */
export function topicPath({ id }: Pick<Topic, 'id'>): string {
  return id === '' ? '/docs' : `/docs/${id}`
}
