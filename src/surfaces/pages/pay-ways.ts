import { html } from 'hono/html'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { modeWord } from '../../service/catalogue/text.ts'
import { INVOICE_RULES } from '../../service/invoices/rules.ts'
import type { InvoiceView } from '../../service/invoices/view.ts'
import type { AppDeps } from '../deps.ts'
import { chainName, isPayable, usdc, type PayRecord } from './client/pay/record.ts'
import type { Markup } from './layout.ts'

/** What a page needs beside the record. */
export interface PaySetting {
  now_ms: number
  /** Signed payments are carried to the chain here. */
  carries: boolean
  /** Where changes are told; null where that is not offered. */
  events: string | null
}

interface Bank {
  account_name: string
  iban: string
  bic: string | null
  bank_name: string | null
  country: string
  currency: string
  reference: string
  /** In the currency of the account; null where no rate is promised. */
  amount?: string | null
  epc_payload: string | null
}

/** The half that takes the payment; hidden once there is nothing to pay. */
export function waysToPay(deps: AppDeps, record: PayRecord, wire: InvoiceView['record'], setting: PaySetting): Markup {
  const bank = wire['bank_coordinates'] as Bank | null
  return html`<section class="answer ways" id="ways" aria-labelledby="ways-title" ${isPayable(record) ? '' : 'hidden'}>
    <h2 id="ways-title">Pay <span data-due>${usdc(record.due_minor)}</span> USDC</h2>
    ${fromWallet(deps, record, setting)} ${byCode(record, bank, setting)} ${bank === null ? '' : byBank(bank, String(wire['bank_reason']))}
  </section>`
}

function fromWallet(deps: AppDeps, record: PayRecord, setting: PaySetting): Markup {
  const { merchant_verified } = record
  const obstacle = walletObstacle(record, setting)
  const chain = chainName(record.chain_id)
  return html`<section class="browser-wallet" aria-labelledby="by-wallet">
    <h3 id="by-wallet">With a wallet in this browser</h3>
    ${
      obstacle === null
        ? html`<p class="hint">
            One signature, no gas: the service carries the transfer to the chain. What you sign pays this merchant this amount and nothing
            else, names this invoice, and runs out after a quarter of an hour.
          </p>`
        : html`<p class="hint">${obstacle}</p>`
    }
    ${
      modeWord(deps) === null
        ? ''
        : html`<p class="hint">Use a wallet without real money: this deployment works with ${chain}, whose tokens have no value.</p>`
    }
    <ul id="wallets" class="wallets"></ul>
    <p id="no-wallet" hidden>
      No wallet announced itself in this browser.
      ${merchant_verified ? 'Scan the code below with a wallet on your phone, copy the address and the amount, or open' : 'Open'} this page
      in a browser that has a wallet.
    </p>
    <p><button type="button" id="stop" class="copy" hidden>Stop waiting for the wallet</button></p>
    <noscript
      ><p>
        Wallets in the browser need the script of this page.
        ${merchant_verified ? 'Without it: scan the code, or copy the address and the amount.' : ''}
      </p></noscript
    >
  </section>`
}

/** Why signing here is not offered, or may be refused; null when nothing stands in the way. */
function walletObstacle({ due_minor, signing, merchant_verified }: PayRecord, { carries }: PaySetting): string | null {
  if (!carries) return 'This deployment carries no payments to the chain: it has nobody who pays the gas. Pay from another wallet below.'
  if (due_minor < INVOICE_RULES.relay_minimum_minor) {
    const way = merchant_verified
      ? 'Pay from another wallet below.'
      : 'Ask the merchant to sign this invoice; then pay from another wallet below.'
    return `Less than ${usdc(INVOICE_RULES.relay_minimum_minor)} USDC is not carried to the chain here. ${way}`
  }
  return signing === null ? 'All signatures that this invoice can be named by are used up. Ask the merchant how to pay the rest.' : null
}

/** Codes, switched by buttons of one choice, which work without a script. A transfer that would not be matched is not offered. */
function byCode(record: PayRecord, bank: Bank | null, setting: PaySetting): Markup {
  const { invoice_id, merchant_verified } = record
  const payload = bank?.epc_payload ?? null
  return html`<section class="by-code" aria-labelledby="by-code">
    <h3 id="by-code">From another wallet</h3>
    ${
      merchant_verified
        ? html`<p class="hint">
            A plain transfer of exactly this amount is matched to this invoice, if no other open invoice of the merchant asks for the same.
          </p>`
        : html`<p class="warned">
            A plain transfer is not offered: the merchant has not signed this invoice, so a transfer would reach the merchant and never be
            matched to it.
            ${walletObstacle(record, setting) === null ? 'Pay by a signature in a browser wallet.' : 'Ask the merchant to sign it first.'}
          </p>`
    }
    <div class="code">
      ${
        payload === null || !merchant_verified
          ? ''
          : html`<fieldset class="switch">
              <legend class="heard">Which code is shown</legend>
              <label><input type="radio" name="code" value="token" checked /> USDC wallet</label>
              <label><input type="radio" name="code" value="bank" /> Bank transfer</label>
            </fieldset>`
      }
      ${merchant_verified && isPayable(record) ? tokenCode(record) : ''}
      ${
        payload === null
          ? ''
          : html`<img
              class="qr bank"
              src="/api/invoice/${invoice_id}/qr.svg?kind=epc"
              alt="Bank transfer code (EPC) with account and reference, without an amount"
              width="200"
              height="200"
            />`
      }
    </div>
    ${merchant_verified ? transferRows(record) : ''}
  </section>`
}

function tokenCode({ invoice_id, merchant, chain_id, due_minor }: PayRecord): Markup {
  return html`<img
    id="code-token"
    class="qr token"
    src="/api/invoice/${invoice_id}/qr.svg"
    data-shows="${usdc(due_minor)}"
    alt="Payment code: ${usdc(due_minor)} USDC to ${merchant} on ${chainName(chain_id)}"
    width="200"
    height="200"
  />`
}

/** What a wallet is told by hand. */
function transferRows({ invoice_id, merchant, chain_id, due_minor }: PayRecord): Markup {
  return html`<dl class="copies">
      ${copyRow('Amount', 'due', html`<span data-due>${usdc(due_minor)}</span>`, 'amount')}
      ${copyRow('Address', 'to', html`${readEvmAddress(merchant)?.checksummed ?? merchant}`, 'address')}
      ${copyRow('Reference', 'reference', html`${invoice_id}`, 'reference')}
      <div>
        <dt>Network</dt>
        <dd>${chainName(chain_id)}, chain ${chain_id}</dd>
      </div>
    </dl>
    <p class="hint">The reference is for the merchant: a transfer of USDC has no field for it.</p>`
}

function byBank(bank: Bank, reason: string): Markup {
  const { account_name, iban, bic, bank_name, country, currency, reference, amount = null } = bank
  const plain = (label: string, value: string | null) =>
    value === null
      ? ''
      : html`<div>
          <dt>${label}</dt>
          <dd>${value}</dd>
        </div>`
  return html`<section aria-labelledby="by-bank">
    <h3 id="by-bank">By bank transfer</h3>
    <p class="hint">${reason}</p>
    <dl class="copies bank-rows">
      ${plain('Holder', account_name)} ${copyRow('IBAN', 'bank-iban', fours(iban), 'IBAN')}
      ${bic === null ? '' : copyRow('BIC', 'bank-bic', html`${bic}`, 'BIC')} ${plain('Bank', bank_name)} ${plain('Country', country)}
      ${plain('Currency', currency)} ${amount === null ? '' : copyRow('Amount', 'bank-amount', html`${amount}`, 'bank amount')}
      ${copyRow('Reference', 'bank-reference', fours(reference), 'bank reference')}
    </dl>
  </section>`
}

/** In fours, set apart by space alone. */
function fours(text: string): Markup {
  return html`<span class="fours">${(text.match(/.{1,4}/g) ?? []).map((four) => html`<span>${four}</span>`)}</span>`
}

function copyRow(label: string, id: string, value: Markup, what: string): Markup {
  return html`<div>
    <dt>${label}</dt>
    <dd><code id="${id}">${value}</code> ${copyButton(id, what)}</dd>
  </div>`
}

function copyButton(id: string, what: string): Markup {
  return html`<button type="button" class="copy" data-copies="${id}">Copy<span class="heard"> ${what}</span></button>`
}
