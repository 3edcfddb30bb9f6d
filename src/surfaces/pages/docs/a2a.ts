import { html } from '../html.ts'
import { code, curl, items, paragraphs, sample, shownTool, type Topic } from './parts.ts'

export const A2A: Topic = {
  id: 'a2a',
  title: 'A2A',
  words: 'For agents: a card, one endpoint, a task a call.',
  chapters(deps) {
    const tool = shownTool(deps)
    const { api_url } = deps.origins
    const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ data: { tool: tool.id, input: tool.example } }] }
    const send = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    return [
      {
        id: 'card',
        title: 'The card',
        body: html`${sample('card', 'shell', 'One skill a tool', curl(`${api_url}/.well-known/agent-card.json`))}
        ${paragraphs('The card names the endpoint, the versions of the protocol that it speaks (1.0 and 0.3 over JSON-RPC), and the extension for payments.')}`,
      },
      {
        id: 'ask',
        title: 'Ask',
        body: html`${paragraphs(html`A message carries one data part with exactly ${code('tool')} and ${code('input')}.`)}
        ${sample('send', 'shell', 'A message of version 1.0', curl(`${api_url}/a2a`, { headers: ['content-type: application/json', 'A2A-Version: 1.0'], body: send }))}
        ${items(
          html`The artifact of the task holds the whole answer: ${code('result')}, ${code('receipt')} and what else REST answers with.`,
          'A message that names no tool is asked back in words, with skills that may be meant. Nothing is guessed.',
          'Tasks are kept for a day and can be read by their id; there are no push notifications.',
          html`${code('ListTasks')} lists the tasks of one ${code('contextId')}, those changed last first. Callers are not authenticated:
          any client that knows a context id can list its tasks, so context ids must be UUIDs. Keep them as secret as task ids.`,
          html`${code('assay/prev-receipt-hash')} in the metadata of the message links to an earlier receipt.`,
        )}`,
      },
      {
        id: 'payment',
        title: 'Payment',
        body: paragraphs(
          html`Without free calls the task waits in the state input-required, with the terms under ${code('x402.payment.required')}. Answer
            it with ${code('x402.payment.payload')} under the same task. The official packages do both.
            <a href="/docs/payment">Payment</a> says the rest.`,
        ),
      },
    ]
  },
}
