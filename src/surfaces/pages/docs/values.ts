import { WEBHOOK_EVENTS, type WebhookEventType } from '../../../ports/webhooks.ts'
import { BUNDLE_ENTRIES_MAX, BUNDLE_FORMAT, BUNDLE_LIMITS, BUNDLE_VERSION } from '../../../pure/audit/bundle.ts'
import { usdcDecimal } from '../../../pure/payments/usdc.ts'
import { encodeReceipt } from '../../../pure/receipts/compact.ts'
import { digestText, GRAMMAR, SIGNED_FIELDS, TAIL_FIELDS, TEST_VECTOR } from '../../../pure/receipts/receipt.ts'
import {
  allowanceWords,
  byFamily,
  callUrl,
  HONEST_LIMITS,
  paymentWords,
  RECEIPT_LIMIT,
  shellWord,
} from '../../../service/catalogue/text.ts'
import { receiptSchema } from '../../../service/catalogue/wire-schemas.ts'
import { BUNDLE_RULES, FAUCET_RULES, INVOICE_RULES, limits, WEBHOOK_RULES } from '../../../service/limits.ts'
import type { ProblemKind } from '../../../service/payment-problems.ts'
import { priceBounds, type PriceClass } from '../../../service/payments/price-book.ts'
import { mcpResource, v1PaymentRequired, v2PaymentRequired } from '../../../service/payments/terms.ts'
import { PROBLEMS, type ProblemCode } from '../../../service/problems.ts'
import type { AppDeps } from '../../deps.ts'
import { FAUCET_AMOUNTS_TEXT } from '../../sandbox/endpoints.ts'
import { sampleText } from '../components/samples.ts'
import { html } from '../html.ts'
import type { Markup } from '../layout.ts'
import { code, inline, items, pretty, shownTool, table, type Values } from './parts.ts'
import { RULE_BOOKS } from './rule-book-values.ts'

/**
 * Values of the placeholders in docs/guide/. Limits, prices, tables, typed data and test vectors come from the code that applies them, so that a page cannot
 * state anything else.
 */

const { receipt, digest, link_to, link_digest } = TEST_VECTOR
const compact = encodeReceipt(receipt)

function callBody(deps: AppDeps): string {
  return JSON.stringify({ input: shownTool(deps).example })
}

const CALLS: Values = {
  api_url: (deps) => deps.origins.api_url,
  mcp_url: (deps) => deps.origins.mcp_url,
  tool: (deps) => shownTool(deps).id,
  example: (deps) => JSON.stringify(shownTool(deps).example),
  example_word: (deps) => shellWord(JSON.stringify(shownTool(deps).example)),
  faucet_amounts: () => FAUCET_AMOUNTS_TEXT,
  faucet_client_daily: () => FAUCET_RULES.client_daily,
  faucet_network_daily: () => FAUCET_RULES.network_daily,
  call_url: (deps) => callUrl(deps, shownTool(deps)),
  call_body: (deps) => shellWord(callBody(deps)),
  call_body_literal: (deps) => JSON.stringify(callBody(deps)),
  typescript_sample: (deps) => languageSample(deps, 'typescript'),
  python_sample: (deps) => languageSample(deps, 'python'),
  go_sample: (deps) => languageSample(deps, 'go'),
  mcp_call_body(deps) {
    const { id, example } = shownTool(deps)
    return shellWord(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: id, arguments: example } }))
  },
  a2a_body(deps) {
    const { id, example } = shownTool(deps)
    const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ data: { tool: id, input: example } }] }
    return shellWord(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }))
  },
  body_bytes: () => limits.body_bytes,
  document_body_bytes: () => limits.document_body_bytes,
  unpaid_body_bytes: () => limits.unpaid_body_bytes,
  honest_limits: () => items(...HONEST_LIMITS.map((words) => words.replaceAll('`', ''))),
  request_problems: () => problemTable(({ fault, status }) => fault === 'caller' && status !== 402 && status !== 409),
  payment_problems: () => problemTable(({ fault, status }) => fault === 'caller' && (status === 402 || status === 409)),
  service_problems: () => problemTable(({ fault }) => fault !== 'caller'),
}

/** The call of the shown tool in a language, without a library. */
function languageSample(deps: AppDeps, kind: 'typescript' | 'python' | 'go'): string {
  const { api_url, mcp_url } = deps.origins
  const { id, example } = shownTool(deps)
  return sampleText(kind, { tool: id, api_url, mcp_url }, JSON.stringify(example))
}

const FAULTS = { caller: 'the request', service: 'this service', source: 'a source' } as const

/** Table of a group of problems. It has a column for the origin of the fault only if the problems differ in it. */
function problemTable(has: (kind: ProblemKind) => boolean): Markup {
  const found = (Object.keys(PROBLEMS) as ProblemCode[]).map((name) => ({ name, kind: PROBLEMS[name] })).filter(({ kind }) => has(kind))
  const mixed = new Set(found.map(({ kind }) => kind.fault)).size > 1
  const rows = found.map(({ name, kind: { status, retryable, description, fault } }) => [
    html`<a href="/problems/${name}"><code>${name}</code></a>`,
    String(status),
    retryable ? 'yes' : 'no',
    ...(mixed ? [FAULTS[fault]] : []),
    inline(description),
  ])
  return table(`${rows.length} codes`, ['code', 'status', 'retryable', ...(mixed ? ['fault of'] : []), 'meaning'], rows)
}

const PAYMENTS: Values = {
  allowance: (deps) => allowanceWords(deps.free, deps.call.catalogue.tools),
  payment: (deps) => paymentWords(deps),
  chain_id: (deps) => deps.chain_id,
  payment_least_s: () => limits.payment_least_left_s,
  payment_longest_s: () => limits.payment_longest_s,
  answer_kept_h: () => limits.answer_kept_ms / 3_600_000,
  quote_s: () => limits.max_timeout_s,
  terms_v1: (deps) => pretty(v1PaymentRequired(terms(deps), 'payment required')),
  terms_v2: (deps) => pretty(v2PaymentRequired(terms(deps), 'payment required')),
  terms_mcp: (deps) => pretty(v2PaymentRequired({ ...terms(deps), resource: mcpResource(shownTool(deps).id) }, 'payment required')),
  price_classes: priceClasses,
  tool_prices: toolPrices,
}

/** Terms as a 402 asks for them, with the floor of the class for an amount. */
function terms(deps: AppDeps) {
  const tool = shownTool(deps)
  return {
    ...deps.terms,
    resource: callUrl(deps, tool),
    description: tool.description,
    amount_minor: priceBounds(tool.price).floor_minor,
  }
}

/** Description of each price class. */
const CLASSES: Record<PriceClass, string> = {
  free: 'free without limit',
  check: 'one check of one value',
  chain: 'facts read from the chain or from a market',
  contract: 'the facts of a token contract',
  document: 'a whole document or file',
  batch: 'many checks in one call',
}

function priceClasses(deps: AppDeps): Markup {
  const rows = (Object.keys(CLASSES) as PriceClass[]).map((name) => {
    const { floor_minor, cap_minor, formula } = priceBounds(name)
    const members = deps.call.catalogue.tools.filter(({ price }) => price === name).length
    return [code(name), CLASSES[name], usdcDecimal(floor_minor), usdcDecimal(cap_minor), formula ?? '', String(members)]
  })
  return table('Classes of tools, in USDC', ['class', 'what it is', 'at least', 'at most', 'formula', 'tools'], rows)
}

function toolPrices({ call, free }: AppDeps): Markup {
  const freeCalls = (id: string) => String(Object.hasOwn(free.overrides, id) ? free.overrides[id] : free.free_daily)
  return html`${byFamily(call.catalogue.tools).map(({ title, tools }) =>
    table(
      title,
      ['tool', 'class', 'free calls'],
      tools.map(({ id, price }) => [
        html`<a href="/tools/${id}"><code>${id}</code></a>`,
        price,
        price === 'free' ? 'without limit' : freeCalls(id),
      ]),
    ),
  )}`
}

const RECEIPTS: Values = {
  receipt_limit: () => RECEIPT_LIMIT,
  receipt_fields: () =>
    table(
      'Fields',
      ['field', 'signed', 'what it is', 'form'],
      [...SIGNED_FIELDS, ...TAIL_FIELDS, 'signer' as const, 'signature' as const].map((name) => fieldRow(name)),
    ),
  vector_notice: () => TEST_VECTOR.notice,
  vector_receipt: () => pretty(receipt),
  vector_body: () => shellWord(JSON.stringify({ receipt })),
  vector_text: () => digestText(receipt),
  vector_digest: () => digest,
  vector_signer: () => receipt.signer,
  vector_payer: () => receipt.payer,
  vector_nonce: () => receipt.nonce,
  vector_link_to: () => link_to,
  vector_link_digest: () => link_digest,
  vector_compact: () => (compact.ok ? compact.text : ''),
  bundle_answers: () => BUNDLE_LIMITS.answers,
  bundle_datasets: () => BUNDLE_LIMITS.datasets,
  bundle_mib: () => BUNDLE_LIMITS.bytes / 1_048_576,
  bundle_format: () => BUNDLE_FORMAT,
  bundle_version: () => BUNDLE_VERSION,
  bundle_per_minute: () => BUNDLE_RULES.per_minute,
  bundle_entries: () => BUNDLE_ENTRIES_MAX,
}

type Field = (typeof SIGNED_FIELDS)[number] | (typeof TAIL_FIELDS)[number] | 'signer' | 'signature'

function fieldRow(name: Field): (Markup | string)[] {
  const properties = receiptSchema()['properties'] as Record<Field, { description?: string; pattern?: string }>
  const { description = '', pattern } = properties[name]
  const signed = name !== 'signer' && name !== 'signature'
  const when = (TAIL_FIELDS as readonly string[]).includes(name) ? 'where it is there' : signed ? 'yes' : 'no'
  return [code(name), when, description, code(signed ? GRAMMAR[name].source : (pattern ?? ''))]
}

const EVENTS: Readonly<Record<WebhookEventType, string>> = {
  'invoice.created': 'the merchant has signed an invoice',
  'invoice.paid': 'confirmed payments have reached the amount, or the merchant confirmed a bank transfer with its signature (bank_payment)',
  'invoice.underpaid': 'a payment is confirmed, and a part of the amount is still due',
  'invoice.voided': 'the merchant has voided an invoice',
  'invoice.expired': 'an invoice has expired without being paid',
  'payment.settled': 'one payment of an invoice is confirmed on the chain',
  'policy.bound': 'the underwriter has countersigned a policy',
  'dispute.ruled': 'a dispute about a receipt is decided',
}

const INVOICES: Values = {
  invoice_max: () => INVOICE_RULES.amount_max,
  relay_minimum: () => usdcDecimal(INVOICE_RULES.relay_minimum_minor),
  sweep_minimum: () => usdcDecimal(INVOICE_RULES.sweep_minimum_minor),
  merchant_writes: () => INVOICE_RULES.merchant_per_minute,
  statement_writes: () => INVOICE_RULES.statement_writes,
  client_writes: () => INVOICE_RULES.per_minute,
  network_writes: () => INVOICE_RULES.network_new_per_minute,
  retention_days: () => INVOICE_RULES.retention_days,
  network_signed: () => INVOICE_RULES.new_signed_network,
  provider_signed: () => INVOICE_RULES.new_signed_provider,
  all_signed: () => INVOICE_RULES.new_signed_all,
  proven_open: () => INVOICE_RULES.proven_open,
  wait_new_min: () => INVOICE_RULES.wait_new_ms / 60_000,
  watch_more_days: () => INVOICE_RULES.watch_more_s / 86_400,
  purged_years: () => INVOICE_RULES.purged_kept_days / 365,
  list_token_h: () => INVOICE_RULES.list_token_s / 3_600,
  webhook_events: () =>
    table(
      'Events',
      ['type', 'when it is sent'],
      WEBHOOK_EVENTS.map((type) => [code(type), EVENTS[type]]),
    ),
  webhook_send_s: () => WEBHOOK_RULES.send_ms / 1_000,
  webhook_retries: () => WEBHOOK_RULES.retry_s.length,
  webhook_retry_h: () => Math.round(WEBHOOK_RULES.retry_s.reduce((sum, wait_s) => sum + wait_s, 0) / 3_600),
  webhook_challenges: () => WEBHOOK_RULES.challenge.most,
  webhook_challenge_min: () => WEBHOOK_RULES.challenge.expires_ms / 60_000,
  webhook_caught_up: () => WEBHOOK_RULES.caught_up,
  webhook_queued: () => WEBHOOK_RULES.queued,
  webhook_dead_days: () => WEBHOOK_RULES.dead_ms / 86_400_000,
  webhook_host_accepted: () => WEBHOOK_RULES.rate.host.all,
  webhook_host_refused: () => WEBHOOK_RULES.rate.host.unaccepted,
  webhook_owner_max: () => WEBHOOK_RULES.owner_subscriptions,
  webhook_network_max: () => WEBHOOK_RULES.network_subscriptions,
  webhook_provider_max: () => WEBHOOK_RULES.provider_subscriptions,
}

/** Values of the placeholders of all guides, by name. */
export const GUIDE_VALUES: Values = { ...CALLS, ...PAYMENTS, ...RECEIPTS, ...INVOICES, ...RULE_BOOKS }
