import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import { requestObject, type ObjectReply } from '../client/json-request.ts'
import { html } from '../html.ts'

/** Local storage key of the secret with which the code of the next purchase is collected. */
const KEPT = 'assay-credit-secret'
const ASK_EVERY_MS = 2_000
const MINOR_DIGITS = 6

/** Form that buys a pack: stores a secret, sends its hash, and opens the checkout of Stripe. */
export function BuyCredit({ packs_usd }: { packs_usd: readonly number[] }) {
  const [status, setStatus] = useState('')
  const buy = async (pack: number) => {
    setStatus('Opening the checkout …')
    const secret = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    try {
      localStorage.setItem(KEPT, secret)
    } catch {
      return setStatus(
        'This browser blocks storage for this site, so it could not receive the code. Nothing was bought. Allow storage and try again.',
      )
    }
    const { nobleCrypto } = await import('../../../pure/receipts/crypto.ts')
    const answer = await requestObject('/api/credits/checkout', { pack, claim_hash: nobleCrypto.keccak256Hex(secret) })
    const url = textOf(answer?.body['url'])
    if (answer?.ok === true && url !== null) location.assign(url)
    else setStatus(errorText(answer))
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    void buy(Number(new FormData(event.currentTarget).get('pack')))
  }
  return html`<form id="buy" class="packs" onSubmit=${submit}>
    <fieldset>
      <legend>Pack, US dollars</legend>
      ${packs_usd.map(
        (usd, index) => html`<label><input type="radio" name="pack" value=${usd} defaultChecked=${index === 0} /> ${usd}.00 USD</label> `,
      )}
    </fieldset>
    <p class="hint">1 USD buys 1 USD of calls. You pay on Stripe’s page; assay never sees your card number.</p>
    <button type="submit">Pay by card</button>
    <p class="said" id="buying" role="status">${status}</p>
    <noscript><p class="hint">Buying needs JavaScript: it stores the secret with which this browser collects the code.</p></noscript>
  </form>`
}

/** Code of a purchase as it is shown, and what is needed to erase it from the service. */
interface BoughtCredit {
  code: string
  amount_minor: string
  erased: boolean
}

/** Shows a bought code once, in the browser that bought it; polls until the payment is confirmed. */
export function BoughtCode() {
  const [status, setStatus] = useState('Checking the payment …')
  const [bought, setBought] = useState<BoughtCredit | null>(null)
  const claim = useRef({ session_id: '', secret: '' })
  useEffect(() => {
    const ended = new AbortController()
    const receive = async () => {
      const session_id = new URLSearchParams(location.search).get('session_id')
      const secret = localStorage.getItem(KEPT)
      if (session_id === null || secret === null) {
        return setStatus('This browser has no open purchase. Open this page in the browser that bought the credit.')
      }
      claim.current = { session_id, secret }
      while (!ended.signal.aborted) {
        const answer = await requestObject('/api/credits/code', claim.current)
        const state = answer?.ok === true ? textOf(answer.body['status']) : null
        const code = textOf(answer?.body['code'])
        if (state === 'ready' && code !== null) {
          setStatus('Payment received. The code is shown only once: copy it now.')
          return setBought({ code, amount_minor: textOf(answer?.body['amount_minor']) ?? '', erased: false })
        }
        if (state === 'shown') return setStatus('This code was shown before and then erased here.')
        setStatus(
          state === 'waiting' ? 'The payment has not been confirmed yet. This page keeps checking.' : `${errorText(answer)} Trying again …`,
        )
        await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
      }
    }
    void receive()
    return () => ended.abort()
  }, [])
  const erase = async () => {
    const answer = await requestObject('/api/credits/code', { ...claim.current, seen: true })
    if (answer?.ok !== true) return setStatus(errorText(answer))
    localStorage.removeItem(KEPT)
    setBought(bought && { ...bought, erased: true })
    setStatus('Erased from this service. Only you have the code now.')
  }
  return html`
    <p class="said" id="waiting" role="status">${status}</p>
    <div id="handed" hidden=${bought === null}>
      <p class="characters code" id="bought">${bought?.code}</p>
      <p class="hint" id="worth">${bought !== null && `${decimal(bought.amount_minor)} USD of calls.`}</p>
      <p>
        <button type="button" data-copies="bought">Copy</button>${' '}
        <button type="button" id="kept" disabled=${bought?.erased === true} onClick=${() => void erase()}>I have saved it: erase it here</button>
      </p>
    </div>
  `
}

/** Form for a credit code that shows its balance and entries. */
export function CreditBalance() {
  const [status, setStatus] = useState('')
  const [shown, setShown] = useState<Members | null>(null)
  const show = async (typed: string) => {
    setShown(null)
    const { readCreditCode } = await import('../../../pure/credits/credits.ts')
    const code = readCreditCode(typed)
    if (code === null) return setStatus('This is not a credit code: a character is missing or wrong. A code starts with ac_.')
    setStatus('Loading …')
    const answer = await requestObject('/api/credits/balance', null, { 'x-credit': code })
    if (answer?.ok !== true) return setStatus(errorText(answer))
    setStatus(`${amountText(answer.body, 'available')} left.`)
    setShown(answer.body)
  }
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const code = new FormData(event.currentTarget).get('code')
    void show(typeof code === 'string' ? code : '')
  }
  return html`
    <form id="balance" class="ask" onSubmit=${submit}>
      <div class="field">
        <label for="code">Credit code</label>
        <input
          id="code"
          name="code"
          type="text"
          placeholder="ac_…"
          maxlength="64"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
        />
        <p class="hint">Keep the code secret: it can be spent without a name or password. It is sent to this service only.</p>
      </div>
      <button type="submit">Show the balance</button>
      <p class="said" id="asking" role="status">${status}</p>
    </form>
    <div id="shown">${shown !== null && html`<${BalanceView} body=${shown} />`}</div>
  `
}

function BalanceView({ body }: { body: Members }) {
  const sums = ['granted', 'spent', 'reserved', 'reversed', 'shortfall'].filter((name) => name !== 'shortfall' || body[name] !== '0')
  const entries = objectsIn(body['entries'])
  return html`
    <dl class="sums">${sums.map((name) => html`<dt>${name}</dt><dd>${amountText(body, name)}</dd>`)}</dl>
    ${
      entries.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Entries">
        <table>
          <thead><tr>${['time', 'what', 'amount'].map((word) => html`<th scope="col">${word}</th>`)}</tr></thead>
          <tbody>
            ${entries.map(
              (entry) => html`<tr>
                <td>${textOf(entry['at'])}</td>
                <td>${[textOf(entry['kind']), textOf(entry['tool']) ?? textOf(entry['standing'])].filter((word) => word !== null).join(' ')}</td>
                <td class="amount">${amountText({ ...entry, unit: body['unit'] }, 'amount')}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
  `
}

/** Exact amount with its unit. */
function amountText(body: Members, name: string): string {
  const text = textOf(body[name]) ?? '0'
  return body['unit'] === 'calls' ? `${text} calls` : `${decimal(text)} USD`
}

/** Minor units as a decimal: 5000 is 0.005000. */
function decimal(minor: string): string {
  const digits = minor.padStart(MINOR_DIGITS + 1, '0')
  return `${digits.slice(0, -MINOR_DIGITS)}.${digits.slice(-MINOR_DIGITS)}`
}

function errorText(answer: ObjectReply | null): string {
  return answer === null ? 'The service could not be reached.' : (textOf(answer.body['detail']) ?? 'The request was rejected.')
}
