import { AUDIT, JOURNEY_TOPIC, RECEIPTS } from './receipts.ts'
import { CLIENT, COMMAND_LINE, GOING_LIVE } from './command-line.ts'
import { A2A, ERRORS, MCP, REST, START } from './calls.ts'
import { INVOICES, WEBHOOKS } from './webhooks.ts'
import { PAYMENT, PRICES } from './payment.ts'
import { RULE_BOOKS } from './rule-books.ts'
import type { Topic } from './parts.ts'

/** The topics in the order in which they are read. */
export const GROUPS: readonly { title: string; topics: readonly Topic[] }[] = [
  { title: 'Call', topics: [START, JOURNEY_TOPIC, REST, MCP, A2A, COMMAND_LINE, CLIENT] },
  { title: 'Know', topics: [PRICES, PAYMENT, RECEIPTS, AUDIT, ERRORS, INVOICES, WEBHOOKS] },
  { title: 'Rule books', topics: RULE_BOOKS },
  { title: 'Run', topics: [GOING_LIVE] },
]

export const REFERENCE = { id: 'reference', title: 'API reference', words: 'Every operation, from the OpenAPI document.' }

/** Guides for the search. */
export function guideList(): { href: string; title: string; text: string }[] {
  const topics = [...GROUPS.flatMap((group) => group.topics), REFERENCE]
  return topics.map((topic) => ({ href: topicPath(topic), title: topic.title, text: topic.words }))
}

/** The address of a topic. */
export function topicPath({ id }: Pick<Topic, 'id'>): string {
  return id === '' ? '/docs' : `/docs/${id}`
}
