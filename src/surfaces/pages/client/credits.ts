import { readCreditCode } from '../../../pure/credits/code.ts'
import { nobleCrypto } from '../../../pure/receipts/crypto.ts'
import { byId, copyOnClick, el } from './dom.ts'
import { isMembers, listOf, textOf, type Members } from './shapes.ts'

/** Buying a credit, being handed its code, and looking at what is left. The card itself is asked for by Stripe, elsewhere. */

/** Under this name the browser keeps the secret that its next code is handed over for. */
const KEPT = 'assay-credit-secret'
const ASK_EVERY_MS = 2_000
const MINOR_DIGITS = 6

copyOnClick()
if (document.getElementById('buy') !== null) onSubmit('buy', buy)
if (document.getElementById('balance') !== null) onSubmit('balance', showBalance)
if (document.getElementById('handed') !== null) void receive()

function onSubmit(id: string, work: (form: HTMLFormElement) => Promise<void>): void {
  const form = byId(id, HTMLFormElement)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void work(form)
  })
}

/** Draws a secret, keeps it here, and goes to pay; only its hash leaves this browser. */
async function buy(form: HTMLFormElement): Promise<void> {
  const said = byId('buying', HTMLElement)
  said.textContent = 'opening the checkout …'
  const secret = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  try {
    localStorage.setItem(KEPT, secret)
  } catch {
    said.textContent = 'This browser keeps nothing for this site, so the code could not be handed over. Nothing was bought.'
    return
  }
  const pack = form.querySelector<HTMLInputElement>('input[name="pack"]:checked')
  const answer = await send('/api/credits/checkout', { pack: Number(pack?.value), claim_hash: nobleCrypto.keccak256Hex(secret) })
  const url = textOf(answer?.body['url'])
  if (answer?.ok === true && url !== null) location.assign(url)
  else said.textContent = wordsOf(answer)
}

/** Asks for the code until the notice of the payment has arrived. */
async function receive(): Promise<void> {
  const waiting = byId('waiting', HTMLElement)
  const session_id = new URLSearchParams(location.search).get('session_id')
  const secret = localStorage.getItem(KEPT)
  if (session_id === null || secret === null) {
    waiting.textContent = 'This browser holds no secret of a purchase. Open this page in the browser that bought the credit.'
    return
  }
  for (;;) {
    const answer = await send('/api/credits/code', { session_id, secret })
    const status = answer?.ok === true ? textOf(answer.body['status']) : null
    const code = textOf(answer?.body['code'])
    if (status === 'ready' && code !== null) {
      hand(code, textOf(answer?.body['amount_minor']) ?? '', { session_id, secret })
      return
    }
    if (status === 'shown') {
      waiting.textContent = 'This code was shown before and is erased here.'
      return
    }
    waiting.textContent =
      status === 'waiting' ? 'The payment has not been confirmed yet. This page goes on asking.' : `${wordsOf(answer)} Asking again …`
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
}

function hand(code: string, amount_minor: string, bought: { session_id: string; secret: string }): void {
  byId('waiting', HTMLElement).textContent = 'The payment has arrived. This is the only time that the code is shown.'
  byId('bought', HTMLElement).textContent = code
  byId('worth', HTMLElement).textContent = `${decimal(amount_minor)} USD of calls.`
  byId('handed', HTMLElement).hidden = false
  const kept = byId('kept', HTMLButtonElement)
  kept.addEventListener('click', () => void erase(kept, bought))
}

async function erase(kept: HTMLButtonElement, bought: { session_id: string; secret: string }): Promise<void> {
  const answer = await send('/api/credits/code', { ...bought, seen: true })
  if (answer?.ok !== true) {
    byId('waiting', HTMLElement).textContent = wordsOf(answer)
    return
  }
  localStorage.removeItem(KEPT)
  kept.disabled = true
  byId('waiting', HTMLElement).textContent = 'Erased here. Only you have the code now.'
}

async function showBalance(): Promise<void> {
  const said = byId('asking', HTMLElement)
  const shown = byId('shown', HTMLElement)
  shown.replaceChildren()
  const code = readCreditCode(byId('code', HTMLInputElement).value)
  if (code === null) {
    said.textContent = 'This is no credit code: a character is missing or wrong.'
    return
  }
  said.textContent = 'asking …'
  const answer = await send('/api/credits/balance', null, { 'x-credit': code })
  if (answer?.ok !== true) {
    said.textContent = wordsOf(answer)
    return
  }
  said.textContent = `${amount(answer.body, 'available')} left.`
  shown.replaceChildren(balanceView(answer.body))
}

function balanceView(body: Members): Node {
  const sums = ['granted', 'spent', 'reserved', 'reversed', 'shortfall'].filter((name) => name !== 'shortfall' || body[name] !== '0')
  const entries = listOf(body['entries'])
  return el(
    'div',
    {},
    el('dl', { class: 'sums' }, ...sums.flatMap((name) => [el('dt', {}, name), el('dd', {}, amount(body, name))])),
    entries.length === 0 ? null : entriesTable(body, entries),
  )
}

function entriesTable(body: Members, entries: readonly Members[]): Node {
  const rows = entries.map((entry) =>
    el(
      'tr',
      {},
      el('td', {}, textOf(entry['at']) ?? ''),
      el('td', {}, [textOf(entry['kind']), textOf(entry['tool']) ?? textOf(entry['standing'])].filter((word) => word !== null).join(' ')),
      el('td', { class: 'amount' }, amount({ ...entry, unit: body['unit'] }, 'amount')),
    ),
  )
  const head = el('tr', {}, ...['time', 'what', 'amount'].map((word) => el('th', { scope: 'col' }, word)))
  return el('div', { class: 'scrolls', tabindex: '0' }, el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows)))
}

/** An amount with its unit, exact. */
function amount(body: Members, name: string): string {
  const text = textOf(body[name]) ?? '0'
  return body['unit'] === 'calls' ? `${text} calls` : `${decimal(text)} USD`
}

/** Minor units as decimals: 5000 is 0.005000. */
function decimal(minor: string): string {
  const digits = minor.padStart(MINOR_DIGITS + 1, '0')
  return `${digits.slice(0, -MINOR_DIGITS)}.${digits.slice(-MINOR_DIGITS)}`
}

interface Told {
  ok: boolean
  body: Members
}

/** Null when no answer came, or none that can be read. */
async function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Told | null> {
  try {
    const sent = body === null ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(path, { ...sent, headers: { 'content-type': 'application/json', ...headers } })
    const told: unknown = await response.json()
    return isMembers(told) ? { ok: response.ok, body: told } : null
  } catch {
    return null
  }
}

function wordsOf(answer: Told | null): string {
  return answer === null ? 'The service could not be reached.' : (textOf(answer.body['detail']) ?? 'The service refused.')
}
