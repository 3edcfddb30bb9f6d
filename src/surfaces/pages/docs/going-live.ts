import { html } from '../html.ts'
import { code, curl, items, paragraphs, sample, steps, table, type Topic } from './parts.ts'

/** The short form of docs/going-live.md, which has every detail. */
export const GOING_LIVE: Topic = {
  id: 'going-live',
  title: 'Going live',
  words: 'What it takes to be paid in real USDC with a deployment of your own.',
  chapters(deps) {
    return [
      {
        id: 'settings',
        title: 'What live mode needs',
        body: html`${paragraphs(html`The whole of it, with keys, gas, backups, refunds and rotation, is ${code('docs/going-live.md')} in the source. This page is the way through it.`)}
        ${table(
          'Settings',
          ['name', 'what it is'],
          [
            [code('ASSAY_MODE=live'), 'without it the four below stop the start, so that no sandbox touches money'],
            [code('ASSAY_RPC_URLS'), 'endpoints of the chain, two of different providers'],
            [code('ASSAY_PAY_TO'), 'the address that is paid; its key stays away from the service'],
            [
              html`${code('ASSAY_GAS_KEY_FILE')} or ${code('ASSAY_FACILITATOR_URLS')}`,
              'settle yourself with a gas wallet, or let others settle: one of the two',
            ],
            [code('ASSAY_CHAIN_ID'), '8453 is Base; 84532 is Base Sepolia, marked TESTNET everywhere'],
            [html`${code('ASSAY_RECEIPT_KEY_FILE')}, ${code('ASSAY_SECRET_FILE')}`, 'required with PostgreSQL, where instances share them'],
            [code('ASSAY_API_URL'), 'the public origin; terms name the resource by it'],
          ],
        )}`,
      },
      {
        id: 'order',
        title: 'In this order',
        body: steps(
          1,
          html`Run on Base Sepolia with its own store, let a client pay once, and run ${code('assay ledger prove')}: it must end with
          0.`,
          html`Begin on Base with a new store and a new receipt key; run ${code('assay doctor')} until every check holds.`,
          html`Watch ${code('/health')} and ${code('/metrics')} on the operator port (${code('ASSAY_ADMIN_PORT')}); run
          ${code('assay ledger prove')} and ${code('assay doctor')} once a day.`,
        ),
      },
      {
        id: 'watch',
        title: 'What to watch',
        body: html`${table(
          'Alarms',
          ['watch', 'alarm when', 'it means'],
          [
            [html`status of ${code('/health')}`, 'not 200', 'the store does not answer'],
            [code('payments.ready'), 'false for a minute', 'calls cannot be paid: gas, caps, facilitator or chain'],
            [code('payments.chain_ok'), 'false for a minute', 'no endpoint answers with a fresh head'],
            [code('payments.overdue'), 'above 0', 'payments are open for more than ten minutes'],
            [
              html`${code('assay_calls_total')} with ${code('INTERNAL_ERROR')}`,
              'grows',
              'a fault of the service; the log has the request id',
            ],
          ],
        )}
        ${sample('health', 'shell', 'What a monitor asks', curl(`${deps.origins.api_url}/health`))}
        ${items(html`<a href="/status">Status</a> charts the counts of this process.`)}`,
      },
    ]
  },
}
