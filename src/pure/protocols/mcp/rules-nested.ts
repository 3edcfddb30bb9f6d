import { rule, type Report } from '../rule.ts'
import { copyOf } from './copies.ts'
import { bodiesIn, challengesOf, isChallenge, paymentsOf, standsFirst } from './nested.ts'
import { mcpSpec, X402_OVER_MCP } from './spec.ts'
import type { Call, McpView } from './view.ts'

/** MCP-043, 044: payments and shops inside an answer, which are checked by the rules of their own protocol. */
export const NESTED_RULES = [
  rule<McpView>(
    {
      code: 'MCP-043',
      severity: 'both',
      why: 'A client pays what it reads, in the structured content or in the first text, and takes neither for a challenge without isError.',
      spec: X402_OVER_MCP,
      hint: 'Send the whole challenge as structuredContent, the same JSON in the first text block, and "isError": true.',
      good: {
        isError: true,
        structuredContent: { x402Version: 2, accepts: [] },
        content: [{ type: 'text', text: '{"x402Version":2,"accepts":[]}' }],
      },
      bad: { isError: true, structuredContent: { x402Version: 2, accepts: [] }, content: [{ type: 'text', text: 'Pay first' }] },
    },
    (report, view) => {
      for (const call of view.calls) signaling(report, call)
      for (const { place, type } of paymentsOf(view)) view.context.delegate('x402', place, type)
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-044',
      severity: 'warning',
      why: 'MCP itself names nobody who is paid; only a checkout or a challenge inside the answer does.',
      spec: mcpSpec('server/tools', 'Structured Content'),
      hint: 'Send the answer that holds the checkout or the challenge, or leave out the expected payee.',
      good: { expected_payee: 'shop.example.com', structuredContent: { ucp: { version: '2026-04-08' } } },
      bad: { expected_payee: 'shop.example.com', structuredContent: { celsius: 4 } },
    },
    ({ warning }, view) => {
      const { context, calls } = view
      // Every body is handed on, whether or not one before it was.
      const shops = calls.flatMap(bodiesIn).filter((body) => context.delegate('ucp', body) || context.delegate('acp', body))
      if (context.expected_payee !== null && shops.length === 0 && paymentsOf(view).length === 0)
        warning(view.document, 'holds nothing that the expected payee could be compared with')
    },
  ),
]

/** How a tool says that it wants to be paid. The text alone is enough for the clients there are. */
function signaling({ error, warning }: Report, call: Call): void {
  const [challenge] = challengesOf(call)
  if (challenge === undefined) return
  const { place, structured } = call
  const flag = place.get('isError')
  if (!flag.present || flag.boolean() === false) error(flag, 'is not true beside a challenge', { expected: 'true' })
  const copy = isChallenge(structured, call) ? copyOf(call) : 'same'
  if (copy === 'none' || copy === 'other')
    error(structured, 'is a challenge that no text block repeats', { expected: 'the same JSON as text' })
  else if (!standsFirst(call))
    warning(challenge, 'is a challenge that the first block does not hold', { expected: 'the JSON in content[0].text' })
}
