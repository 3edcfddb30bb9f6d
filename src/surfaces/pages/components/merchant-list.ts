import { useEffect, useRef, useState } from 'preact/hooks'
import { csvQuoted, csvText } from '../../../pure/documents/csv-cell.ts'
import type { InvoiceState } from '../../../pure/invoices/standing.ts'
import { objectsIn, textOf, type Members } from '../../../pure/is-object.ts'
import { isOpen, readInvoice, refusalText, signAndSend, timeText, type Account, type ListedInvoice } from '../client/merchant/invoices.ts'
import { requestObject } from '../client/json-request.ts'
import { INVOICE_MARKS, keepText, keptText, usdc } from '../client/pay/record.ts'
import { saveFile } from '../client/files.ts'
import { html } from '../html.ts'
import { SmallVerdict } from './verdict.ts'

type StateWords = Readonly<Record<InvoiceState, string>>

interface MerchantInvoicesProps {
  account: Account | null
  /** Grows when an invoice was created and signed. */
  changed: number
  site_url: string
  words: StateWords
}

/** List of the invoices that the merchant signed, and the confirmation of their bank transfers, after which `onConfirmed` is called. */
export function SignedInvoices({ onConfirmed, ...list }: MerchantInvoicesProps & { onConfirmed(): void }) {
  return html`<${MerchantInvoices} ...${list} /><${BankStatement} account=${list.account} onConfirmed=${onConfirmed} />`
}

/** Lists the invoices that the merchant signed, from any browser: one signature opens the list for some hours. */
function MerchantInvoices({ account, changed, site_url, words }: MerchantInvoicesProps) {
  const list = useInvoiceList(account, changed)
  const { page, message, invoices } = list
  const can_sign = account !== null && account.wallet !== null
  return html`<section id="invoices" aria-labelledby="invoices-title">
    <div class="bar">
      <h2 id="invoices-title" tabindex="-1">Your invoices</h2>
      ${
        page !== null &&
        html`<p class="acts">
          <button type="button" class="plain" id="refresh" onClick=${() => void list.refresh()}>Refresh</button>${' '}
          <button type="button" class="plain" id="export-csv" onClick=${() => void list.save(site_url)}>Save as CSV</button>
        </p>`
      }
    </div>
    ${
      page === null &&
      html`<p class="measure">
          All invoices that you signed with this account, also from another computer. Your wallet signs once to show them; that moves no money.
        </p>
        <p>
          <button type="button" id="show-invoices" disabled=${!can_sign} onClick=${() => void list.open()}>Show my invoices</button>
          ${!can_sign && html` <span class="hint">Connect a wallet first (step 1).</span>`}
        </p>`
    }
    <p class="said" id="listing" role="status" tabindex="-1">${message}</p>
    ${page !== null && invoices.length === 0 && html`<p class="empty">No signed invoice yet. Create the first one above.</p>`}
    ${
      invoices.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-labelledby="invoices-title">
        <table class="list">
          <thead>
            <tr>
              ${['State', 'Amount in USDC', 'Order', 'Customer', 'For', 'Created', 'Paid', 'Actions'].map((name) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${invoices.map((invoice) => html`<${InvoiceRow} key=${invoice.invoice_id} invoice=${invoice} words=${words} list=${list} />`)}
          </tbody>
        </table>
      </div>`
    }
    ${page !== null && page.next_before !== null && html`<p><button type="button" class="plain" onClick=${() => void list.more()}>Show older ones</button></p>`}
  </section>`
}

function InvoiceRow({ invoice, words, list }: { invoice: ListedInvoice; words: StateWords; list: InvoiceList }) {
  const { invoice_id, status, client_name, memo, order_number, transaction_url, created_at, settled_at } = invoice
  const amount = usdc(invoice.amount_minor)
  const bank = bankText(invoice)
  const named = `invoice of ${amount} USDC${client_name === null ? '' : ` for ${client_name}`}, ${invoice_id}`
  return html`<tr>
    <td><${SmallVerdict} mark=${INVOICE_MARKS[status]} word=${words[status]} />${bank !== null && html`<span class="hint">${bank}</span>`}</td>
    <td class="amount">${amount}</td>
    <td>${order_number ?? '–'}</td>
    <td>${client_name ?? '–'}</td>
    <td class="memo">${memo ?? '–'}</td>
    <td>${timeText(created_at)}</td>
    <td>${settled_at === null ? '–' : timeText(settled_at)}</td>
    <td>
      <a href=${`/pay/${invoice_id}`} target="_blank" rel="noopener">Open<span class="heard"> ${named}</span></a>${' '}
      ${
        transaction_url !== null &&
        html`<a href=${transaction_url} target="_blank" rel="noopener noreferrer">Transaction<span class="heard"> of the ${named}</span></a>`
      }
      ${
        status === 'ISSUED' &&
        html`<button type="button" class="plain void" onClick=${() => void list.void(invoice)}>Void<span class="heard"> ${named}</span></button>`
      }
    </td>
  </tr>`
}

/** State of bank transfers as text; null without any. */
function bankText({ bank_payment, bank_status }: ListedInvoice): string | null {
  if (bank_payment === null) return bank_status === null ? null : `Bank: ${bank_status}`
  const { amount, currency, booked_on } = bank_payment
  return `By bank: ${amount} ${currency}${booked_on === null ? '' : `, booked ${booked_on}`}`
}

/** A page of the list, with the token that reads the next one. */
interface InvoicePage {
  invoices: readonly ListedInvoice[]
  next_before: number | null
  token: string
}

function readPage(body: Members): InvoicePage | null {
  const { next_before } = body
  const token = textOf(body['token'])
  if (token === null) return null
  const invoices = objectsIn(body['invoices']).flatMap((one) => readInvoice(one) ?? [])
  return { invoices, next_before: typeof next_before === 'number' ? next_before : null, token }
}

const COLUMNS = [
  'invoice_id',
  'status',
  'exceptions',
  'amount_usdc',
  'paid_usdc',
  'order_number',
  'client_name',
  'memo',
  'created_at',
  'expires_at',
  'settled_at',
  'paid_by',
  'bank_amount',
  'bank_currency',
  'bank_reference',
  'bank_booked_on',
  'bank_status',
  'transaction',
  'payer',
  'payment_page',
]

/** The list as CSV (RFC 4180). Texts that a spreadsheet would run as a formula are led by an apostrophe. */
function invoicesCsv(invoices: readonly ListedInvoice[], page_url: (invoice_id: string) => string): string {
  const lines = invoices.map((one) => {
    const texts = [one.order_number, one.client_name, one.memo].map((text) => csvText(text ?? ''))
    const { amount = '', currency = '', reference = '', booked_on = '' } = one.bank_payment ?? {}
    const bank = [one.paid_by ?? '', amount, currency, reference ?? '', booked_on ?? '', one.bank_status ?? '']
    const times = [one.created_at, one.expires_at, one.settled_at ?? '']
    const head = [one.invoice_id, one.status, one.exceptions.join(' '), usdc(one.amount_minor), paidInUsdc(one)]
    const links = [one.tx_hash ?? '', one.payer ?? '', page_url(one.invoice_id)]
    return [...head.map(csvQuoted), ...texts, ...[...times, ...bank, ...links].map(csvQuoted)].join(',')
  })
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`
}

/** Empty for an invoice that was paid by bank alone: 0.00 would say that nothing was paid. */
function paidInUsdc({ paid_by, paid_minor }: ListedInvoice): string {
  return paid_by === 'bank' && paid_minor === 0n ? '' : usdc(paid_minor)
}

interface InvoiceList {
  /** The newest page; null until the list is open. */
  page: InvoicePage | null
  invoices: readonly ListedInvoice[]
  message: string
  /** Asks for the list with a signature. */
  open(): Promise<void>
  refresh(): Promise<void>
  more(): Promise<void>
  void(invoice: ListedInvoice): Promise<void>
  save(site_url: string): Promise<void>
}

const LIST = '/api/invoice/list'
const REFRESH_MS = 10_000
/** Longest page that the service gives, and the most invoices that are exported. */
const PAGE_MAX = 100
const EXPORTED_MAX = 5_000

/** Name of a merchant's token in the storage of the tab; without it the list is signed for again. */
function tokenName(merchant: string): string {
  return `assay-list-${merchant}`
}

/** Reads the list with the token of the tab, follows open invoices while the page is visible, and voids with a signature. */
function useInvoiceList(account: Account | null, changed: number): InvoiceList {
  const [page, setPage] = useState<InvoicePage | null>(null)
  const [invoices, setInvoices] = useState<readonly ListedInvoice[]>([])
  const [message, setMessage] = useState('')
  const token = useRef<string | null>(null)
  const failed = useRef(false)
  const merchant = account?.address.toLowerCase() ?? ''
  const current = useRef(merchant)
  current.current = merchant
  const take = (found: InvoicePage) => {
    // The account may have been changed while the answer was on its way.
    if (current.current !== merchant) return
    token.current = found.token
    keepText(tokenName(merchant), found.token)
    setPage((known) => (known === null ? found : { ...found, next_before: known.next_before }))
    setInvoices((known) => mergedInvoices(found.invoices, known))
  }
  const read = async (before: number | null, limit?: number): Promise<InvoicePage | null> => {
    const asked = { merchant, token: token.current, ...(before === null ? {} : { before }), ...(limit === undefined ? {} : { limit }) }
    const answer = await requestObject(LIST, asked)
    const found = answer?.ok === true ? readPage(answer.body) : null
    if (current.current !== merchant) return null
    if (found !== null && failed.current) setMessage('')
    failed.current = found === null
    if (found !== null) return found
    if (answer?.status === 403) {
      token.current = null
      keepText(tokenName(merchant), null)
      setPage(null)
      setInvoices([])
      setMessage('Your signature for this list has expired. Sign again to show it.')
    } else setMessage(refusalText(answer))
    return null
  }
  const refresh = async () => {
    const found = token.current === null ? null : await read(null)
    if (found !== null) take(found)
  }
  useEffect(() => {
    setPage(null)
    setInvoices([])
    setMessage('')
    token.current = merchant === '' ? null : keptText(tokenName(merchant))
    void refresh()
  }, [merchant])
  useEffect(() => {
    if (changed > 0) void refresh()
  }, [changed])
  const following = page !== null && invoices.some(isOpen)
  useEffect(() => {
    if (!following) return
    const timer = setInterval(() => document.visibilityState === 'visible' && void refresh(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [following, merchant])
  const acts = listActs({ account, merchant, take, read, setMessage, setInvoices, setPage, page })
  return { page, invoices, message, refresh, ...acts }
}

/** Newly read invoices replace known ones, in the order of their creation, newest first. */
function mergedInvoices(found: readonly ListedInvoice[], known: readonly ListedInvoice[]): ListedInvoice[] {
  const ids = new Set(found.map(({ invoice_id }) => invoice_id))
  return [...found, ...known.filter(({ invoice_id }) => !ids.has(invoice_id))]
}

interface ListActParts {
  account: Account | null
  merchant: string
  take(found: InvoicePage): void
  read(before: number | null, limit?: number): Promise<InvoicePage | null>
  setMessage(message: string): void
  setInvoices(change: (known: readonly ListedInvoice[]) => readonly ListedInvoice[]): void
  setPage(page: InvoicePage): void
  page: InvoicePage | null
}

/** Acts of the buttons of the list. */
function listActs({ account, merchant, take, read, setMessage, setInvoices, setPage, page }: ListActParts) {
  const signed = (path: string, body: Members, waiting: string) =>
    account === null ? null : requestSigned(account, path, body, waiting, setMessage)
  return {
    async open() {
      const body = await signed(LIST, { merchant }, `Waiting for ${account?.wallet?.name ?? 'the wallet'}: sign to show your invoices.`)
      const found = body && readPage(body)
      if (found === null) return
      take(found)
      document.getElementById('invoices-title')?.focus()
    },
    async more() {
      const found = await read(page?.next_before ?? null)
      if (found === null) return
      setInvoices((known) => mergedInvoices(known, found.invoices))
      setPage(found)
    },
    async void({ invoice_id, amount_minor }: ListedInvoice) {
      const amount = usdc(amount_minor)
      const waiting = `Waiting for ${account?.wallet?.name ?? 'the wallet'}: sign to void the invoice of ${amount} USDC.`
      const body = await signed(`/api/invoice/${invoice_id}/void`, {}, waiting)
      const voided = body && readInvoice(body)
      if (voided === null) return
      setInvoices((known) => known.map((one) => (one.invoice_id === invoice_id ? voided : one)))
      setMessage(`The invoice of ${amount} USDC is void. Its page asks the customer not to pay.`)
      // The button is gone.
      document.getElementById('listing')?.focus()
    },
    async save(site_url: string) {
      setMessage('Reading all invoices …')
      const found: ListedInvoice[] = []
      for (let before: number | null | undefined; before !== null && found.length < EXPORTED_MAX;) {
        const next: InvoicePage | null = await read(before ?? null, PAGE_MAX)
        if (next === null) return
        found.push(...next.invoices)
        before = next.next_before
      }
      const text = invoicesCsv(found, (id) => `${site_url}/pay/${id}`)
      saveFile(new Blob([text], { type: 'text/csv;charset=utf-8' }), 'assay-invoices.csv')
      const cut = found.length >= EXPORTED_MAX ? `, the newest ${EXPORTED_MAX}; the API lists all` : ''
      setMessage(`assay-invoices.csv with ${found.length} invoices is saved by your browser${cut}.`)
    },
  }
}

/** Sends a request, then again with the signature that the answer asks for; null after saying why that failed. */
async function requestSigned(
  account: Account,
  path: string,
  body: Members,
  waiting: string,
  say: (message: string) => void,
): Promise<Members | null> {
  const asked = await requestObject(path, body)
  if (asked === null) {
    say(refusalText(null))
    return null
  }
  say(waiting)
  const end = await signAndSend(account, asked.body, body)
  say(end.ok ? '' : end.message)
  return end.ok ? end.body : null
}

const STATEMENT = '/api/invoice/statement'
/** Longest document that the service takes. */
const STATEMENT_CHARS = 1_048_576

/** Answer of the service about a statement, as lines. */
interface StatementResult {
  message: string
  invoices: readonly { text: string; closed: boolean }[]
}

/** Confirms bank transfers with a statement of the merchant's bank, signed by the wallet. */
function BankStatement({ account, onConfirmed }: { account: Account | null; onConfirmed(): void }) {
  const [result, setResult] = useState<StatementResult>({ message: '', invoices: [] })
  const can_sign = account !== null && account.wallet !== null
  const say = (message: string) => setResult({ message, invoices: [] })
  const submit = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget
    const file = form instanceof HTMLFormElement ? new FormData(form).get('statement') : null
    if (account === null || !(file instanceof File) || file.size === 0) return say('Choose the file that your bank gave you.')
    const document = await file.text()
    if (document.length > STATEMENT_CHARS)
      return say(`The file has ${document.length} characters; at most ${STATEMENT_CHARS} are read. Ask your bank for a file of fewer days.`)
    const body = { document, merchant: account.address }
    const waiting = `Waiting for ${account.wallet?.name ?? 'the wallet'}: sign the statement.`
    const answer = await requestSigned(account, STATEMENT, body, waiting, say)
    if (answer === null) return undefined
    setResult(statementResult(answer))
    return onConfirmed()
  }
  return html`<section id="statement" aria-labelledby="statement-title">
    <h2 id="statement-title">Confirm bank transfers</h2>
    <p class="measure">
      Choose a statement of your bank (camt.053, camt.054). Each booked entry with the account, reference, currency and exact amount of an invoice that you
      signed closes that invoice. Your wallet signs the file once; the file is not stored, only its SHA-256.
    </p>
    <form onSubmit=${(event: Event) => void submit(event)}>
      <label for="statement-file">Bank statement</label>
      <input type="file" id="statement-file" name="statement" accept=".xml,.camt,text/xml,application/xml" />
      <p class="send">
        <button type="submit" disabled=${!can_sign}>Sign and confirm</button>
        ${!can_sign && html` <span class="hint">Connect a wallet first (step 1).</span>`}
      </p>
    </form>
    <p class="said" id="confirming" role="status">${result.message}</p>
    ${
      result.invoices.length > 0 &&
      html`<ul id="confirmed">
        ${result.invoices.map(({ text, closed }) => html`<li><${SmallVerdict} mark=${closed ? 'valid' : 'unverifiable'} word=${text} /></li>`)}
      </ul>`
    }
  </section>`
}

function statementResult(body: Members): StatementResult {
  const invoices = objectsIn(body['invoices']).map((one) => ({
    text: `${textOf(one['expected']) ?? ''} ${textOf(one['currency']) ?? ''}, ${textOf(one['reference']) ?? ''}: ${textOf(one['message']) ?? ''}`,
    closed: one['outcome'] === 'closed' || one['outcome'] === 'already_closed',
  }))
  const unmatched = objectsIn(body['unmatched']).map((one) => ({
    text: `${textOf(one['amount']) ?? ''} ${textOf(one['currency']) ?? ''}, ${textOf(one['reference']) ?? ''}: ${UNMATCHED[textOf(one['reason']) ?? ''] ?? ''}`,
    closed: false,
  }))
  const closed = invoices.filter((one) => one.closed).length
  const message = `${closed === 1 ? '1 invoice is' : `${closed} invoices are`} paid by this statement.`
  return { message, invoices: [...invoices, ...unmatched] }
}

const UNMATCHED: Readonly<Record<string, string>> = {
  no_invoice: 'No invoice that you signed has this reference.',
  several_invoices: 'Several of your invoices have this reference.',
  other_account: 'It was booked on another account than the invoice names.',
  not_booked: 'It is not booked yet.',
}
