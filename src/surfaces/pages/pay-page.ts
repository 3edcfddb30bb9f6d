import type { ComponentProps } from 'preact'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import type { Unprintable } from '../../pure/invoices/printable.ts'
import { FEE_POLICY } from '../../pure/invoices/terms.ts'
import { fillMessage } from '../../pure/messages.ts'
import { SEAL_UNITS, sealPaths } from '../../pure/receipts/seal.ts'
import { modeMark, modeWord } from '../../service/catalogue/text.ts'
import type { InvoiceView } from '../../service/invoices/invoice-view.ts'
import type { Problem } from '../../service/problems.ts'
import type { AppDeps } from '../deps.ts'
import type { Localized } from './messages.ts'
import type { RenderedInvoice } from './client/pay/live.ts'
import { isPayable, readRecord, usdc } from './client/pay/record.ts'
import { CheckoutPage } from './components/checkout.ts'
import type { PaySetting } from './components/pay-ways.ts'
import { html, Island } from './html.ts'
import { layout } from './layout.ts'

type CheckoutProps = ComponentProps<typeof CheckoutPage>
type InvoiceDetails = CheckoutProps['details']

/** Facts for the page that the record does not have. */
interface PayPageParts extends Localized, Omit<RenderedInvoice, 'record'> {
  /** This deployment submits signed payments to the chain. */
  carries: boolean
  /** Smallest amount that it submits now. */
  least_minor: bigint
}

/** Renders `/pay/{invoice}`: amount, merchant, state and ways to pay. Readable without a script. Throws a TypeError for an invalid record. */
export function payPage(deps: AppDeps, { record: wire, terms }: InvoiceView, parts: PayPageParts): string {
  const record = readRecord(wire)
  if (record === null) throw new TypeError('the invoice record is invalid')
  const { language, languages, messages, now_ms, etag, events, carries, least_minor } = parts
  const { checkout, states, notices, faults } = messages
  const payable = isPayable(record)
  const setting: PaySetting = {
    carries,
    minimum_minor: String(least_minor),
    test_tokens: modeWord(deps) !== null,
    has_faucet: deps.sandbox !== null,
    merchant_address: readEvmAddress(record.merchant)?.checksummed ?? record.merchant,
    bank: payable ? (wire['bank_coordinates'] as PaySetting['bank']) : null,
    bank_reason: String(wire['bank_reason']),
  }
  const props: CheckoutProps = {
    record: recordForScript(wire, payable),
    details: detailsOf(wire, terms.cart_hash),
    setting,
    now_ms,
    etag,
    events,
    messages: { checkout, states, notices, faults },
    language,
    languages,
  }
  return layout({
    title: fillMessage(payable ? checkout.title_pay : checkout.title_invoice, {
      amount: usdc(payable ? record.due_minor : record.amount_minor),
    }),
    mark: modeMark(deps),
    main: html`<${Island} id="invoice" component=${CheckoutPage} props=${props} />`,
    site: false,
    script: 'pay',
    styles: ['styles/pay.css'],
    language,
    skip: checkout.skip,
  })
}

/** Page for an unknown invoice id; does not show the id. */
export function noInvoicePage(deps: AppDeps, { language, messages: { checkout } }: Localized, { code, extra }: Problem): string {
  const is_gone = code === 'INVOICE_GONE'
  const title = is_gone ? checkout.gone : checkout.not_found
  const main = html`<div class="lead">
    <h1>${title}</h1>
    <p>${is_gone ? fillMessage(checkout.gone_help, { merchant: String(extra?.['merchant']) }) : checkout.not_found_help}</p>
  </div>`
  return layout({ title: `${title} · assay`, mark: modeMark(deps), main, language, skip: checkout.skip })
}

/** The record without the members that the page has elsewhere in its props, or does not show: where nothing can be paid, no address to pay to. */
function recordForScript(wire: InvoiceView['record'], payable: boolean): Readonly<Record<string, unknown>> {
  const {
    memo: _memo,
    client_name: _client,
    order_number: _order,
    return_url: _return,
    bank: _account,
    bank_coordinates: _bank,
    fee_policy_text: _policy,
    sign: _sign,
    accepted_terms: _terms,
    eip681_uri: _uri,
    qr_svg_url: _code,
    ...rest
  } = wire
  const forwarded_after = (rest['deposit'] as { forwarded_after: string | null } | null)?.forwarded_after ?? null
  return payable ? { ...rest, forwarded_after } : { ...rest, deposit: null, forwarded_after }
}

function detailsOf(wire: InvoiceView['record'], cart_hash: string): InvoiceDetails {
  const accepted = wire['accepted_terms'] as { version: string; hash: string; accepted_at: string }
  const missing = wire['pdf_unprintable'] as readonly Unprintable[] | null
  return {
    client_name: textIn(wire, 'client_name'),
    memo: textIn(wire, 'memo'),
    order_number: textIn(wire, 'order_number'),
    erased_s: typeof wire['erased_s'] === 'number' ? wire['erased_s'] : null,
    shop: shopOf(textIn(wire, 'return_url')),
    entitlement: wire['entitlement'] as InvoiceDetails['entitlement'],
    fee_minor: String(wire['protocol_fee_minor']),
    net_minor: String(wire['merchant_net_minor']),
    terms: { ...accepted, text: FEE_POLICY.text },
    cart_hash,
    seal: { units: SEAL_UNITS, paths: sealPaths(cart_hash) },
    unprintable: missing === null ? null : missing.flatMap(({ characters }) => characters).join(', '),
  }
}

/** Link to the page of the shop, with its host as people compare it. */
function shopOf(return_url: string | null): InvoiceDetails['shop'] {
  return return_url === null ? null : { url: return_url, host: new URL(return_url).host }
}

function textIn(wire: InvoiceView['record'], name: string): string | null {
  const value = wire[name]
  return typeof value === 'string' ? value : null
}
