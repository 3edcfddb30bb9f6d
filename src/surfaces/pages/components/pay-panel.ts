import { useEffect, useState } from 'preact/hooks'
import { waitText } from '../../../pure/duration-text.ts'
import { isObject, objectsIn, type Members } from '../../../pure/is-object.ts'
import { requestObject } from '../client/json-request.ts'
import {
  DECLINED,
  discoverWallets,
  isOnChain,
  requestAccount,
  signTypedData,
  switchChain,
  transferTypedData,
  UNKNOWN_CHAIN,
  walletErrorCode,
  type Wallet,
} from '../client/wallets.ts'
import { html } from '../html.ts'

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
        ${ways.sandbox && wallets.map((wallet) => html`<${TestMoneyButton} wallet=${wallet} say=${setMessage} />`)}
        ${!ways.sandbox && wallets.length === 0 && html`<p class="hint">No wallet was found in this browser.</p>`}
        <${CreditForm} send=${(code: string) => void attempt('', () => payByCredit(code))} />
        <p class="pay-message" role="status">${message}</p>
      </div>`
    }
    ${!ways.takes_payments && html`<p>This deployment takes no payments; it answers again after the reset.</p>`}
    <p class="hint">
      ${ways.sandbox && html`Any address gets <a href="/docs/payment#test-money">test USDC</a>, once a day. `}A program pays by itself:
      <a href="/docs/payment">how payment works</a>. On your own machine, <code>assay call</code> runs the same check
      without a limit.
    </p>
    <details>
      <summary>The 402 answer as JSON</summary>
      <pre tabindex="0">${JSON.stringify(problem, null, 2)}</pre>
    </details>
  </div>`
}

/** Gives test USDC to the account of a wallet, in a sandbox. */
function TestMoneyButton({ wallet, say }: { wallet: Wallet; say(message: string): void }) {
  const ask = async () => {
    say(`Asking ${wallet.name} for its account …`)
    const { getTestMoney } = await import('../client/test-money.ts')
    const end = await getTestMoney(wallet)
    if (end.ok) return say(`${end.address} has ${end.balance} test USDC${end.funded ? '' : '; it got test money today already'}.`)
    const faults = {
      declined: `You declined in ${wallet.name}.`,
      no_account: `${wallet.name} gave no account.`,
      refused: 'The service could not be reached.',
    }
    say(end.message ?? faults[end.kind])
  }
  return html`<button type="button" class="plain test-money" onClick=${() => void ask()}>Get test USDC for ${wallet.name}</button>`
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

/** One entry of the terms of a 402 (x402 version 2, scheme "exact"), as far as a wallet needs it. */
interface CallTerms extends WalletToken {
  amount_minor: string
  pay_to: string
  timeout_s: number
  /** EIP-712 domain of the token. */
  domain: { name: string; version: string }
  /** The entry itself, which a payment sends back. */
  accepted: Members
}

/** A payment as request headers, or why there is none. */
type PaymentAttempt = { ok: true; headers: Record<string, string> } | { ok: false; message: string }

/** Token that a wallet can pay in, with names for people. */
interface WalletToken {
  chain_id: number
  network_name: string
  currency: string
  /** Address of the contract. */
  asset: string
}

/** Reads the terms of a 402, one for each of these tokens that it offers; incomplete ones are left out. */
function callTerms(required: Members, tokens: readonly WalletToken[]): CallTerms[] {
  return objectsIn(required['accepts']).flatMap((entry) => {
    const { scheme, network, asset } = entry
    const token = tokens.find(
      (known) => network === `eip155:${known.chain_id}` && String(asset).toLowerCase() === known.asset.toLowerCase(),
    )
    const terms = scheme !== 'exact' || token === undefined ? null : readTerms(entry, token)
    return terms === null ? [] : [terms]
  })
}

function readTerms(accepted: Members, token: WalletToken): CallTerms | null {
  const { amount, asset, payTo: pay_to, maxTimeoutSeconds: timeout_s, extra } = accepted
  if (
    !isObject(extra) ||
    typeof amount !== 'string' ||
    typeof asset !== 'string' ||
    typeof pay_to !== 'string' ||
    typeof timeout_s !== 'number'
  )
    return null
  const { name, version } = extra
  if (typeof name !== 'string' || typeof version !== 'string') return null
  return { ...token, asset, amount_minor: amount, pay_to, timeout_s, domain: { name, version }, accepted }
}

/** Pays with the test wallet of the sandbox, which the service itself signs for. */
async function payByTestWallet(terms: CallTerms): Promise<PaymentAttempt> {
  const reply = await requestObject('/v1/sandbox/payment', { amount_minor: terms.amount_minor })
  if (reply === null) return { ok: false, message: 'The service could not be reached.' }
  return reply.ok ? { ok: true, headers: paymentHeader(terms, reply.body) } : { ok: false, message: String(reply.body['detail']) }
}

/** A credit code pays one call; each call has its own idempotency key. */
function payByCredit(code: string): PaymentAttempt {
  const trimmed = code.trim()
  if (!/^[\x21-\x7e]{8,200}$/.test(trimmed)) return { ok: false, message: 'Enter the credit code as you received it, without spaces.' }
  return { ok: true, headers: { 'x-credit': trimmed, 'idempotency-key': crypto.randomUUID() } }
}

/** Asks a wallet of this browser for account, chain and signature: one transfer of exactly this amount (EIP-3009), no gas. */
async function payByWallet(wallet: Wallet, terms: CallTerms): Promise<PaymentAttempt> {
  const { name } = wallet
  const { chain_id, asset, domain } = terms
  try {
    const payer = await requestAccount(wallet)
    if (payer === null) return { ok: false, message: `${name} gave no account.` }
    if (!(await isOnChain(wallet, chain_id))) await switchChain(wallet, chain_id)
    const authorization = {
      from: payer,
      to: terms.pay_to,
      value: terms.amount_minor,
      validAfter: '0',
      validBefore: String(Math.floor((performance.timeOrigin + performance.now()) / 1_000) + terms.timeout_s),
      nonce: randomNonce(),
    }
    const signature = await signTypedData(wallet, payer, transferTypedData({ ...domain, chain_id, token: asset }, authorization))
    if (signature === null) return { ok: false, message: didNotSign(name) }
    return { ok: true, headers: paymentHeader(terms, { authorization, signature }) }
  } catch (error) {
    return { ok: false, message: walletMessage(error, name, terms) }
  }
}

/** EIP-1193 and EIP-3085 error codes in words. */
function walletMessage(error: unknown, name: string, { network_name }: CallTerms): string {
  const code = walletErrorCode(error)
  if (code === DECLINED) return `You declined in ${name}; nothing was paid.`
  if (code === UNKNOWN_CHAIN) return `${name} does not know the network ${network_name}; add it there, then try again.`
  return didNotSign(name)
}

function didNotSign(name: string): string {
  return `${name} did not sign. Open it, unlock it, and try again.`
}

function randomNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function paymentHeader({ accepted }: CallTerms, payload: unknown): Record<string, string> {
  return { 'payment-signature': btoa(JSON.stringify({ x402Version: 2, accepted, payload })) }
}
