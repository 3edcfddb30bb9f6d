import { rule } from '../rule.ts'
import { copyOf } from './copies.ts'
import { bodiesIn, isPayment, otherPayments } from './nested.ts'
import { mcpSpec, X402_OVER_MCP } from './spec.ts'
import type { McpView } from './view.ts'

/** MCP-043, 044: payments and shops inside an answer, which are checked by the rules of their own protocol. */
export const NESTED_RULES = [
  rule<McpView>(
    {
      code: 'MCP-043',
      severity: 'error',
      why: 'A client pays what it reads: in the text or in the structured content, which must ask for the same.',
      spec: X402_OVER_MCP,
      hint: 'Send the whole challenge as structuredContent, and the same JSON in a text block.',
      good: {
        isError: true,
        structuredContent: { x402Version: 2, accepts: [] },
        content: [{ type: 'text', text: '{"x402Version":2,"accepts":[]}' }],
      },
      bad: { isError: true, structuredContent: { x402Version: 2, accepts: [] }, content: [{ type: 'text', text: 'Pay first' }] },
    },
    ({ error }, view) => {
      for (const call of view.calls) {
        if (!isPayment(call)) continue
        const { structured } = call
        const copy = copyOf(call)
        if (copy === 'none' || copy === 'other')
          error(structured, 'is a challenge that no text block repeats', { expected: 'the same JSON as text' })
        if (!structured.has('x402Version')) error(structured.get('x402Version'), 'is missing from a challenge')
        view.context.delegate('x402', structured)
      }
      for (const place of otherPayments(view)) view.context.delegate('x402', place)
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
      const isPaid = calls.some(isPayment) || otherPayments(view).length > 0
      // Every body is handed on, whether or not one before it was.
      const shops = calls.flatMap(bodiesIn).filter((body) => context.delegate('ucp', body) || context.delegate('acp', body))
      if (context.expected_payee !== null && !isPaid && shops.length === 0)
        warning(view.document, 'holds nothing that the expected payee could be compared with')
    },
  ),
]
