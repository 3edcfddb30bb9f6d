import type { TargetedEvent, TargetedSubmitEvent, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { textOf, type Members } from '../../../pure/is-object.ts'
import { requestObject } from '../client/json-request.ts'
import type { Phase, Screen } from '../client/pay/checkout.ts'
import { isPayable, readRecord, transferTo, usdc, type PayRecord } from '../client/pay/record.ts'
import { initials, type Wallet } from '../client/wallets.ts'
import { html } from '../html.ts'
import { chainText, CopyButton, faultOf, usePayLocale, usePayText, type Fault, type PayMessages } from './pay-text.ts'

/** Facts of the deployment and the invoice that do not change while the page is open. */
export interface PaySetting {
  /** This deployment submits signed payments to the chain. */
  carries: boolean
  /** Least amount that it submits, in minor units. */
  minimum_minor: string
  /** The tokens of the chain have no value. */
  test_tokens: boolean
  /** This sandbox gives test tokens. */
  has_faucet: boolean
  /** Merchant with the checksum of EIP-55. */
  merchant_address: string
  bank: BankCoordinates | null
  bank_reason: string
}

interface BankCoordinates {
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
  /** `invoice`: given with the invoice, and part of what the merchant signs. `operator`: of the settings. */
  source: 'invoice' | 'operator'
}

/** Wallets of this browser and what they are doing; `asked` once they had time to announce themselves. */
interface WalletState {
  wallets: readonly Wallet[]
  asked: boolean
  phase: Phase
  choose(wallet: Wallet): void
  stop(): void
}

interface WaysProps {
  record: PayRecord
  setting: PaySetting
  wallet_state: WalletState
  /** Amount due when the page was rendered, which the cached payment code shows. */
  first_due_minor: bigint
}

/** The paying half of the page, absent once nothing can be paid: one primary way, the others folded once a wallet is there. */
export function WaysToPay({ record, setting, wallet_state, first_due_minor }: WaysProps) {
  const text = usePayText()
  const [open, setOpen] = useState(true)
  const has_wallet = wallet_state.wallets.length > 0
  useEffect(() => {
    if (has_wallet) setOpen(false)
  }, [has_wallet])
  if (!isPayable(record)) return null
  const obstacle = walletObstacle(text, record, setting)
  const others = [
    ...(transferTo(record) === null
      ? []
      : [
          html`<${PlainTransfer}
            record=${record}
            address=${record.deposit?.address ?? setting.merchant_address}
            first_due_minor=${first_due_minor}
          />`,
        ]),
    ...(setting.bank === null || (setting.bank.source === 'invoice' && record.status !== 'ISSUED')
      ? []
      : [html`<${BankTransfer} record=${record} bank=${setting.bank} reason=${setting.bank_reason} />`]),
  ]
  const due = usdc(record.due_minor)
  return html`<section class="answer ways" id="ways" aria-labelledby="ways-title">
    <h2 id="ways-title">${obstacle === null || others.length > 0 ? text('pay', { amount: due }) : text('not_payable')}</h2>
    ${
      obstacle === null
        ? html`<${BrowserWallets} record=${record} setting=${setting} state=${wallet_state} has_others=${others.length > 0} />`
        : html`<p class="warned">${obstacle}</p>`
    }
    ${
      obstacle === null && others.length > 0
        ? html`<details
            id="others"
            class="others"
            open=${open}
            onToggle=${(event: TargetedEvent<HTMLDetailsElement>) => setOpen(event.currentTarget.open)}
          >
            <summary>${text('other_ways')}</summary>
            ${others}
          </details>`
        : others
    }
  </section>`
}

/** Why the invoice cannot be paid by signature; null if it can. */
function walletObstacle(text: ReturnType<typeof usePayText>, record: PayRecord, { carries, minimum_minor }: PaySetting): string | null {
  const next = text(transferTo(record) === null ? 'ask_to_sign' : 'pay_by_transfer')
  if (!carries) return `${text('no_relay')} ${next}`
  const least_minor = BigInt(minimum_minor)
  if (record.due_minor < least_minor) return `${text('below_minimum', { minimum: usdc(least_minor) })} ${next}`
  return record.signing === null ? text('nonces_used') : null
}

interface BrowserWalletsProps {
  record: PayRecord
  setting: PaySetting
  state: WalletState
  has_others: boolean
}

function BrowserWallets({ record, setting, state, has_others }: BrowserWalletsProps) {
  const text = usePayText()
  const { wallets, asked, phase } = state
  return html`<section class="browser-wallet" aria-labelledby="by-wallet">
    <h3 id="by-wallet">${text('by_wallet')}</h3>
    <p class="hint">${text('by_wallet_help')}</p>
    ${setting.test_tokens && html`<p class="hint">${text('no_real_money', { chain: chainText(text, record.chain_id) })}</p>`}
    <ul id="wallets" class="bare wallets">
      ${wallets.map((wallet) => {
        const name = wallet.name || text('nameless_wallet')
        return html`<li key=${wallet.uuid}>
          <button type="button" class="wallet" aria-disabled=${String(phase !== 'idle')} onClick=${() => phase === 'idle' && state.choose(wallet)}>
            <span class="initials" aria-hidden="true">${initials(name)}</span><span>${text('pay_with', { wallet: name })}</span>
          </button>
        </li>`
      })}
    </ul>
    ${setting.has_faucet && wallets.map((wallet) => html`<${TestMoneyButton} key=${wallet.uuid} wallet=${wallet} />`)}
    <p id="no-wallet" hidden=${!asked || wallets.length > 0}>${text(has_others ? 'no_wallet_others' : 'no_wallet')}</p>
    <p>
      <button type="button" id="stop" class="copy" hidden=${phase !== 'wallet'} onClick=${() => state.stop()}>${text('stop_waiting')}</button>
    </p>
    ${transferTo(record) === null && html`<p class="warned">${text('no_plain_transfer')}</p>`}
    <noscript><p>${text('needs_script')}${has_others && ` ${text('others_need_none')}`}</p></noscript>
  </section>`
}

/** Gives test USDC to the account of a wallet, in a sandbox. */
function TestMoneyButton({ wallet }: { wallet: Wallet }) {
  const text = usePayText()
  const [status, setStatus] = useState('')
  const name = wallet.name || text('nameless_wallet')
  const ask = async () => {
    setStatus(text('wallet_account', { wallet: name }))
    const { getTestMoney } = await import('../client/test-money.ts')
    const end = await getTestMoney(wallet)
    const values = end.ok ? { address: end.address, amount: end.balance } : null
    setStatus(values === null ? ((end.ok ? null : end.message) ?? text('no_test_money')) : text('test_money', values))
  }
  return html`<p class="test-money">
    <button type="button" class="copy" onClick=${() => void ask()}>${text('get_test_money', { wallet: name })}</button>
    <span role="status">${status}</span>
  </p>`
}

interface PlainTransferProps {
  record: PayRecord
  address: string
  first_due_minor: bigint
}

/** Code and values for a transfer from any wallet or exchange, where one is matched to the invoice. */
function PlainTransfer({ record, address, first_due_minor }: PlainTransferProps) {
  const text = usePayText()
  const { invoice_id, chain_id, due_minor, deposit } = record
  const amount = usdc(due_minor)
  const chain = chainText(text, chain_id)
  return html`<section class="by-code" aria-labelledby="by-code">
    <h3 id="by-code">${text('by_transfer')}</h3>
    <p class="hint">${text(deposit === null ? 'by_transfer_help' : 'by_deposit_help')}</p>
    ${
      deposit !== null &&
      (deposit.forwarded_from_minor === null || due_minor < deposit.forwarded_from_minor) &&
      html`<p class="hint">${text('merchant_forwards')}</p>`
    }
    <div class="code">
      <img
        id="code-token"
        class="qr token"
        src=${`/api/invoice/${invoice_id}/qr.svg${due_minor === first_due_minor ? '' : `?due=${due_minor}`}`}
        alt=${text('payment_code', { amount, address, chain })}
        width="200"
        height="200"
      />
    </div>
    <dl class="copies">
      <${CopyRow} label=${text('amount')} id="due" what=${text('copy_amount')}>${amount}<//>
      <${CopyRow} label=${text(deposit === null ? 'address' : 'deposit_address')} id="to" what=${text('copy_address')}>${address}<//>
      <${CopyRow} label=${text('reference')} id="reference" what=${text('copy_reference')}>${invoice_id}<//>
      <div><dt>${text('network')}</dt><dd>${text('network_chain', { chain, chain_id: String(chain_id) })}</dd></div>
    </dl>
    <p class="hint">${text('reference_help')}</p>
  </section>`
}

function BankTransfer({ record, bank, reason }: { record: PayRecord; bank: BankCoordinates; reason: string }) {
  const text = usePayText()
  const { invoice_id, merchant_verified } = record
  const is_own = bank.source === 'invoice'
  const { epc_payload, account_name, iban, bic, bank_name, country, currency, reference, amount = null } = bank
  const row = (label: string, value: string | null) => value !== null && html`<div><dt>${label}</dt><dd>${value}</dd></div>`
  return html`<section aria-labelledby="by-bank">
    <h3 id="by-bank">${text('by_bank')}</h3>
    ${
      is_own
        ? html`<p class=${merchant_verified ? 'hint' : 'warned'}>${text(merchant_verified ? 'bank_signed' : 'bank_not_signed')}</p>
            <p class="hint">${text(merchant_verified ? 'by_bank_help' : 'by_bank_unsigned')}</p>`
        : html`<p class="hint">${reason}</p>`
    }
    ${
      epc_payload !== null &&
      html`<div class="code">
        <img class="qr bank" src=${`/api/invoice/${invoice_id}/qr.svg?kind=epc`} alt=${text(is_own ? 'bank_code_amount' : 'bank_code')} width="200" height="200" />
      </div>`
    }
    <dl class="copies bank-rows">
      ${row(text('holder'), account_name)}
      <${CopyRow} label="IBAN" id="bank-iban" what="IBAN"><${Fours} text=${iban} /><//>
      ${bic !== null && html`<${CopyRow} label="BIC" id="bank-bic" what="BIC">${bic}<//>`}
      ${row(text('bank'), bank_name)} ${row(text('country'), country)} ${row(text('currency'), currency)}
      ${amount !== null && html`<${CopyRow} label=${text('amount')} id="bank-amount" what=${text('copy_bank_amount')}>${amount}<//>`}
      <${CopyRow} label=${text('reference')} id="bank-reference" what=${text('copy_bank_reference')}><${Fours} text=${reference} /><//>
    </dl>
  </section>`
}

/** Groups of four, separated by CSS only, so that a copy has no spaces. */
function Fours({ text }: { text: string }) {
  return html`<span class="fours">${(text.match(/.{1,4}/g) ?? []).map((four) => html`<span>${four}</span>`)}</span>`
}

function CopyRow({ label, id, what, children }: { label: string; id: string; what: string; children: VNode | string }) {
  return html`<div><dt>${label}</dt><dd><code id=${id}>${children}</code> <${CopyButton} id=${id} what=${what} /></dd></div>`
}

function transferRule({ deposit, merchant_verified }: PayRecord) {
  if (deposit !== null) return 'deposit_rule'
  return merchant_verified ? 'plain_transfer_rule' : 'unsigned_transfer_rule'
}

/** Message for a rejected request that is not a payment. */
function requestFault(messages: PayMessages['faults'], problem: Members): Fault {
  const values = { title: textOf(problem['title']) ?? '', detail: textOf(problem['detail']) ?? '' }
  return faultOf(messages, problem['retryable'] === true ? 'request_refused_for_now' : 'request_refused', values)
}

interface HashFormProps {
  record: PayRecord
  screen: Pick<Screen, 'say' | 'trouble'>
  onRecord(record: PayRecord): void
}

/** Form for the hash of a transaction that was sent from elsewhere; the service checks it on the chain. */
export function HashForm({ record, screen, onRecord }: HashFormProps) {
  const { messages } = usePayLocale()
  const text = usePayText()
  const [fault, setFault] = useState('')
  const [invalid, setInvalid] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const message = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (fault !== '') message.current?.scrollIntoView({ block: 'nearest' })
  }, [fault])
  const check = async (tx_hash: string) => {
    screen.trouble(null)
    screen.say(text('looking_up'))
    const reply = await requestObject(`/api/invoice/${record.invoice_id}/transactions`, { tx_hash })
    screen.say('')
    if (reply === null) return setFault(text('unreachable'))
    const found = readRecord(reply.body)
    if (found === null) return screen.trouble(requestFault(messages.faults, reply.body))
    onRecord(found)
    if (reply.body['transaction_found'] === false) return setFault(text('not_in_block'))
    if (found.payments.some((one) => one.tx_hash === tx_hash.toLowerCase())) return screen.say(text('found'))
    setFault(`${text('no_payment_found')} ${text(transferRule(found))}`)
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const tx_hash = field.current?.value.trim() ?? ''
    const fits = /^0x[0-9a-fA-F]{64}$/.test(tx_hash)
    setInvalid(!fits)
    setFault(fits ? '' : text('bad_hash', { length: String(tx_hash.length) }))
    if (fits) void check(tx_hash)
    else field.current?.focus()
  }
  return html`<details class="named">
    <summary>${text('already_paid')}</summary>
    <p class="hint">${text('already_paid_help')}</p>
    <form id="named" novalidate onSubmit=${submit}>
      <label for="tx-hash">${text('hash')}</label>
      <input
        id="tx-hash"
        ref=${field}
        name="tx_hash"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        maxlength="80"
        aria-describedby="tx-fault"
        aria-invalid=${invalid ? 'true' : undefined}
      />
      <p class="fault" id="tx-fault" role="alert" ref=${message} hidden=${fault === ''}>${fault}</p>
      <p class="send"><button type="submit">${text('check_payment')}</button></p>
    </form>
  </details>`
}
