import type { Unprintable } from '../../pure/invoices/printable.ts'
import { html, raw } from 'hono/html'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { FEE_POLICY } from '../../pure/invoices/fee.ts'
import { SEAL_UNITS, sealShape } from '../../pure/receipts/seal.ts'
import { modeMark } from '../../service/catalogue/text.ts'
import type { InvoiceView } from '../../service/invoices/view.ts'
import type { AppDeps } from '../deps.ts'
import { chainName, isPayable, readRecord, usdc, type PayRecord } from './client/pay/record.ts'
import { regionsOf } from './client/pay/regions.ts'
import { timePiece } from './client/pay/stations.ts'
import { layout, type Markup } from './layout.ts'
import { waysToPay, type PaySetting } from './pay-ways.ts'
import { written } from './pay-pieces.ts'

/**
 * `/pay/{invoice}`: what is asked, by whom, how it stands, and every way to pay it. Readable without a script. Throws a TypeError for a record
 * that is none.
 */
export function payPage(deps: AppDeps, { record: wire, terms }: InvoiceView, setting: PaySetting): string {
  const record = readRecord(wire)
  if (record === null) throw new TypeError('the record of an invoice cannot be read')
  const regions = regionsOf(record, null)
  const main = html`<div
    class="pay"
    id="checkout"
    data-record="${JSON.stringify(needed(wire))}"
    data-now="${setting.now_ms}"
    ${setting.events === null ? '' : html`data-events="${setting.events}"`}
  >
    <p id="offline" class="problem" role="status" hidden>
      The service cannot be reached. What you see is how the invoice stood last; it goes on by itself when the line is back.
    </p>
    <p class="heard" id="heard" role="status"></p>
    <div class="asked">
      <div class="bill">
        ${amountHead(record)}
        <div id="standing" class="standing">${written(regions.standing)}</div>
        <section class="course" aria-label="The way of the payment">
          <div id="stations">${written(regions.stations)}</div>
          <p id="saying" class="hint" role="status"></p>
          <div id="trouble"></div>
        </section>
        <div id="notices">${written(regions.notices)}</div>
        <div id="payments">${written(regions.payments)}</div>
      </div>
      ${payee(record, wire)} ${purpose(record, wire)}
    </div>
    ${waysToPay(deps, record, wire, setting)}
    <div class="beside">${namedForm()} ${paper(wire, terms.cart_hash)} ${termsAndFee(record, wire)}</div>
  </div>`
  const title = isPayable(record) ? `Pay ${usdc(record.due_minor)} USDC · assay` : `Invoice over ${usdc(record.amount_minor)} USDC · assay`
  return layout({ title, mark: modeMark(deps), main, script: 'pay', style: 'pay' })
}

/** No invoice has the id; the id is not shown. */
export function noInvoicePage(deps: AppDeps): string {
  const main = html`<div class="lead">
    <h1>No such invoice</h1>
    <p>
      No invoice has this address. Compare the link with the one that you were sent, to the last character, or ask the merchant for it
      again.
    </p>
  </div>`
  return layout({ title: 'No such invoice · assay', mark: modeMark(deps), main })
}

/** The members that the script reads, and no other: what a stranger wrote stays out of it. */
function needed({ memo: _memo, client_name: _client, bank_coordinates: _bank, fee_policy_text: _policy, ...rest }: InvoiceView['record']) {
  return rest
}

/** Digits in threes, set apart by space alone, so that a copy holds the plain number. */
function amountHead({ amount_minor, chain_id, invoice_id, expires_s }: PayRecord): Markup {
  const [whole = '', part = ''] = usdc(amount_minor).split('.')
  const groups = whole.split(/(?=(?:\d{3})+$)/)
  const long = whole.length + part.length > LONG_DIGITS ? 'amount long' : 'amount'
  return html`<p class="crumb">Payment request <code>${invoice_id}</code></p>
    <h1 class="${long}">
      <span class="figure">${groups.map((group) => html`<span>${group}</span>`)}<i>.${part}</i></span> <span class="unit">USDC</span>
    </h1>
    <p class="rail">
      on ${chainName(chain_id)}, payable until ${written(timePiece(expires_s))} <span id="left" class="left-over" aria-hidden="true"></span>
    </p>`
}

const LONG_DIGITS = 8

/** The address first: a name could be anybody's. */
function payee({ merchant, merchant_verified, signing }: PayRecord, wire: InvoiceView['record']): Markup {
  const isPilot = wire['entitlement'] !== null
  const fours = (readEvmAddress(merchant)?.checksummed ?? merchant).slice(2).match(/.{4}/g) ?? []
  const [mark, word] = merchant_verified
    ? (['valid', isPilot ? 'signed by the operator' : 'signed by the merchant'] as const)
    : (['unverifiable', 'unverified'] as const)
  return html`<section class="payee" aria-labelledby="payee">
    <h2 id="payee">Merchant</h2>
    <p class="address" id="address">0x${fours.map((four) => html`<span>${four}</span>`)}</p>
    <p>
      <button type="button" class="copy" data-copies="address">Copy<span class="heard"> the address</span></button>
    </p>
    <p class="verdict small ${mark}">
      <svg class="shape" aria-hidden="true"><use href="#mark-${mark}"></use></svg><span>${word}</span>
    </p>
    <p class="hint">
      ${
        merchant_verified
          ? isPilot
            ? 'The operator of this service made this invoice; the key of its receipts signed it.'
            : 'The key of this address signed this invoice. That proves the address, not whose it is.'
          : 'Nobody has proved that this merchant made this invoice. Compare the whole address with one that you have from the merchant on another way.'
      }
    </p>
    ${signing === null ? '' : html`<p class="hint">Token: USDC, <code>${signing.token}</code>, ${String(wire['asset']).split('/')[0]}</p>`}
  </section>`
}

function purpose({ created_s }: PayRecord, wire: InvoiceView['record']): Markup {
  const [client, memo] = [textIn(wire, 'client_name'), textIn(wire, 'memo')]
  const entitlement = wire['entitlement'] as { product: string; calls: number } | null
  return html`<section class="purpose" aria-labelledby="purpose">
    <h2 id="purpose">What for</h2>
    <dl class="rows">
      ${
        client === null
          ? ''
          : html`<div>
              <dt>Client</dt>
              <dd>${client}</dd>
            </div>`
      }
      ${
        memo === null
          ? ''
          : html`<div>
              <dt>Memo</dt>
              <dd class="memo">${memo}</dd>
            </div>`
      }
      ${
        entitlement === null
          ? ''
          : html`<div>
              <dt>Covers</dt>
              <dd>${entitlement.product}, ${entitlement.calls} calls</dd>
            </div>`
      }
      <div>
        <dt>Issued</dt>
        <dd>${written(timePiece(created_s))}</dd>
      </div>
    </dl>
    ${client === null && memo === null ? '' : html`<p class="hint">Client and memo are the words of whoever made the invoice.</p>`}
  </section>`
}

function unprinted(missing: unknown): string {
  return (missing as readonly Unprintable[]).flatMap(({ characters }) => characters).join(', ')
}

/** The same on paper, and the seal by which page and paper are compared. */
function paper(wire: InvoiceView['record'], cart_hash: string): Markup {
  const id = String(wire['invoice_id'])
  return html`<section class="paper" aria-labelledby="paper">
    <h2 id="paper">On paper</h2>
    <svg class="seal" viewBox="0 0 ${SEAL_UNITS} ${SEAL_UNITS}" role="img" aria-label="Seal of the content">
      ${raw(sealShape(cart_hash))}
    </svg>
    <div>
      ${
        wire['pdf_unprintable'] === null
          ? html`<p><a href="/api/invoice/${id}/pdf">Payment request as PDF</a></p>`
          : html`<p>There is no PDF: it does not print ${unprinted(wire['pdf_unprintable'])}. Print this page instead.</p>`
      }
      <p class="hint">
        The seal is drawn from the hash of merchant, amount, memo, client, chain and token: the same here and on the PDF. A visual
        fingerprint, not proof.
      </p>
      <p class="hint"><code>${cart_hash}</code></p>
    </div>
  </section>`
}

/** Works by script alone; without one the chain is read all the same. */
function namedForm(): Markup {
  return html`<details class="named">
    <summary>I have sent it from elsewhere</summary>
    <p class="hint">
      Paste the hash of the transaction, and the chain is looked at now. A payment that names this invoice is found without it, too.
    </p>
    <form id="named" novalidate>
      <label for="tx-hash">Transaction hash</label>
      <input
        id="tx-hash"
        name="tx_hash"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        maxlength="80"
        aria-describedby="tx-fault"
      />
      <p class="fault" id="tx-fault" role="alert" hidden></p>
      <p class="send"><button type="submit">Look for it</button></p>
    </form>
  </details>`
}

function termsAndFee({ amount_minor }: PayRecord, wire: InvoiceView['record']): Markup {
  const accepted = wire['accepted_terms'] as { version: string; hash: string; accepted_at: string }
  return html`<section aria-labelledby="terms">
    <h2 id="terms">Fee and terms</h2>
    <dl class="rows">
      <div>
        <dt>Protocol fee</dt>
        <dd>${usdc(BigInt(String(wire['protocol_fee_minor'])))} USDC</dd>
      </div>
      <div>
        <dt>The merchant receives</dt>
        <dd>${usdc(BigInt(String(wire['merchant_net_minor'])))} of ${usdc(amount_minor)} USDC</dd>
      </div>
    </dl>
    <details>
      <summary>Terms ${accepted.version}, accepted when the invoice was made</summary>
      <p>${FEE_POLICY.text}</p>
      <dl class="rows">
        <div>
          <dt>Accepted</dt>
          <dd>${accepted.accepted_at}</dd>
        </div>
        <div>
          <dt>Hash of the terms</dt>
          <dd><code>${accepted.hash}</code></dd>
        </div>
      </dl>
    </details>
    <p class="hint">
      This page shows what the chain says of the transfer. It does not prove that the merchant delivers, nor who the merchant is, and it is
      no tax invoice.
    </p>
  </section>`
}

function textIn(wire: InvoiceView['record'], name: string): string | null {
  const value = wire[name]
  return typeof value === 'string' ? value : null
}
