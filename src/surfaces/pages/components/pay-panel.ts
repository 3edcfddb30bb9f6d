import { useEffect, useState } from 'preact/hooks'
import { waitText } from '../../../pure/duration-text.ts'
import { isObject, type Members } from '../../../pure/is-object.ts'
import { discoverWallets, type Wallet } from '../client/wallets.ts'
import { html } from '../html.ts'
import {
  callTerms,
  type CallTerms,
  payByCredit,
  payByTestWallet,
  payByWallet,
  type PaymentAttempt,
  type WalletToken,
} from './call-payment.ts'

export interface PaymentWays {
  takes_payments: boolean
  sandbox: boolean
  /** Tokens that a wallet can pay in, on each network of the deployment. */
  tokens: readonly WalletToken[]
}

interface PayPanelProps {
  /** The 402, and when free calls return. */
  problem: Members
  /** Its terms, in version 2. */
  terms: Members
  wait_s: number | null
  ways: PaymentWays
  /** Sends the call again with these headers. */
  pay(headers: Record<string, string>): void
}

/** A 402: the price of this call, every way to pay it here, and when free calls return. */
export function PayPanel({ problem, terms: required, wait_s, ways, pay }: PayPanelProps) {
  const offered = callTerms(required, ways.tokens)
  const [chosen, setChosen] = useState(0)
  const terms = offered[chosen] ?? offered[0] ?? null
  const price = terms === null ? null : `${decimal(terms.amount_minor)} ${terms.currency}`
  const [message, setMessage] = useState('')
  const [wallets, setWallets] = useState<readonly Wallet[]>([])
  useEffect(() => discoverWallets((wallet) => setWallets((known) => [...known, wallet])), [])
  const attempt = async (waiting: string, make: () => Promise<PaymentAttempt> | PaymentAttempt) => {
    setMessage(waiting)
    const made = await make()
    setMessage(made.ok ? 'Paying …' : made.message)
    if (made.ok) pay(made.headers)
  }
  return html`<div class="problem" role="alert">
    <h2>${usedUp(problem)}</h2>
    <p>
      ${price !== null && html`This call costs <b>${price}</b>. `}Your input was not run, and nothing was charged.
      ${freeAgain(problem, wait_s)}
    </p>
    ${
      terms !== null &&
      ways.takes_payments &&
      html`<div class="pay-ways">
        ${
          ways.sandbox &&
          terms.currency === 'USDC' &&
          html`<button type="button" id="pay-test" onClick=${() => void attempt('Signing …', () => payByTestWallet(terms))}>
            Pay ${price} with the test wallet
          </button>`
        }
        ${offered.length > 1 && html`<${NetworkChoice} offered=${offered} choose=${setChosen} />`}
        ${wallets.map(
          (wallet) => html`<button
            type="button"
            class=${ways.sandbox ? 'plain' : undefined}
            onClick=${() => void attempt(`Waiting for ${wallet.name} …`, () => payByWallet(wallet, terms))}
          >
            Pay with ${wallet.name}
          </button>`,
        )}
        ${!ways.sandbox && wallets.length === 0 && html`<p class="hint">No wallet was found in this browser.</p>`}
        <${CreditForm} send=${(code: string) => void attempt('', () => payByCredit(code))} />
        <p class="pay-message" role="status">${message}</p>
      </div>`
    }
    ${!ways.takes_payments && html`<p>This deployment takes no payments; it answers again after the reset.</p>`}
    <p class="hint">
      A program pays by itself: <a href="/docs/payment">how payment works</a>. On your own machine, <code>assay call</code> runs the same check
      without a limit.
    </p>
    <details>
      <summary>The 402 answer as JSON</summary>
      <pre tabindex="0">${JSON.stringify(problem, null, 2)}</pre>
    </details>
  </div>`
}

/** Choice of network and token; the wallet is asked to switch to the network. */
function NetworkChoice({ offered, choose }: { offered: readonly CallTerms[]; choose(place: number): void }) {
  const change = (event: Event) => event.target instanceof HTMLSelectElement && choose(event.target.selectedIndex)
  const names = new Set(offered.map(({ currency }) => currency))
  const label = ({ network_name, currency }: CallTerms) => (names.size === 1 ? network_name : `${currency} on ${network_name}`)
  return html`<p>
    <label for="pay-network">${names.size === 1 ? 'Network' : 'Token'}</label> <select id="pay-network" onChange=${change}>
      ${offered.map((terms) => html`<option>${label(terms)}</option>`)}
    </select>
  </p>`
}

function CreditForm({ send }: { send(code: string): void }) {
  const [code, setCode] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    send(code)
  }
  return html`<form class="credit-code" onSubmit=${submit}>
    <label for="credit-code">Or a credit code</label>
    <div>
      <input
        id="credit-code"
        autocomplete="off"
        spellcheck=${false}
        onInput=${(event: Event) => event.target instanceof HTMLInputElement && setCode(event.target.value)}
      />
      <button type="submit" class="plain">Use</button>
    </div>
  </form>`
}

function usedUp(problem: Members): string {
  const limit = Number(isObject(problem['allowance']) ? problem['allowance']['limit'] : Number.NaN)
  if (problem['code'] !== 'PAYMENT_REQUIRED' || Number.isNaN(limit)) return '402 Payment Required'
  if (limit === 0) return 'This call must be paid'
  return limit === 1 ? 'Today’s free call is used' : `Today’s ${limit} free calls are used`
}

function freeAgain(problem: Members, wait_s: number | null): string {
  const allowance = isObject(problem['allowance']) ? problem['allowance'] : {}
  if (typeof allowance['resets_at'] !== 'string' || allowance['limit'] === 0) return ''
  const clock = allowance['resets_at'].replace(/^.*T(\d\d:\d\d).*$/, '$1 UTC')
  return `Free calls reset at ${clock}${wait_s === null ? '' : ` (in ${waitText(wait_s)})`}.`
}

/** Minor units of six decimals, exactly. */
function decimal(minor: string): string {
  const digits = minor.padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}
