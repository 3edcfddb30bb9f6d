import { textOf, type Members } from '../../../pure/is-object.ts'
import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { InvoiceState } from '../../../pure/invoices/standing.ts'
import {
  isOpen,
  readInvoice,
  timeText,
  type ListedInvoice,
  connect,
  fieldFaults,
  signAndSend,
  type Account,
} from '../client/merchant/invoices.ts'
import { requestObject } from '../client/json-request.ts'
import { INVOICE_MARKS, usdc } from '../client/pay/record.ts'
import { discoverWallets, initials, type Wallet } from '../client/wallets.ts'
import { html } from '../html.ts'
import { SignedInvoices } from './merchant-list.ts'
import { SmallVerdict } from './verdict.ts'

interface MerchantDeskProps {
  /** Public origin, without a final slash. */
  site_url: string
  /** Network of the invoices, such as "Base". */
  network: string
  /** The tokens of the chain have no value. */
  test_tokens: boolean
  /** Words for the states. */
  words: Readonly<Record<InvoiceState, string>>
}

/** Page of a merchant: connects a wallet, creates and signs an invoice, shows its link and state, and lists all invoices. */
export function MerchantDesk(props: MerchantDeskProps) {
  const [account, setAccount] = useState<Account | null>(null)
  const [created, setCreated] = useState<CreatedInvoice | null>(null)
  const [changed, setChanged] = useState(0)
  const onCreated = (invoice: CreatedInvoice) => {
    setCreated(invoice)
    if (invoice.signed) setChanged((count) => count + 1)
  }
  return html`<div class="merchant-desk">
    <div class="halves">
      <div class="ask">
        <${AccountChoice} account=${account} choose=${setAccount} />
        <${NewInvoice} ...${props} account=${account} onCreated=${onCreated} />
      </div>
      <section class="answer" aria-labelledby="share-title">
        <h2 id="share-title">3. Share the link</h2>
        ${
          created === null
            ? html`<p class="empty">After step 2, the link for your customer and the state of the payment appear here.</p>`
            : html`<${ShareInvoice} ...${props} key=${created.record['invoice_id']} account=${account} created=${created} onSigned=${onCreated} />`
        }
      </section>
    </div>
    <${SignedInvoices}
      account=${account}
      changed=${changed}
      site_url=${props.site_url}
      words=${props.words}
      onConfirmed=${() => setChanged((count) => count + 1)}
    />
  </div>`
}

interface CreatedInvoice {
  record: Members
  /** The merchant has signed it. */
  signed: boolean
  /** Why it is not signed yet. */
  message: string
}

interface AccountChoiceProps {
  account: Account | null
  choose(account: Account | null): void
}

function AccountChoice({ account, choose }: AccountChoiceProps) {
  const [wallets, setWallets] = useState<readonly Wallet[]>([])
  const [asked, setAsked] = useState(false)
  const [message, setMessage] = useState('')
  useEffect(() => {
    discoverWallets((wallet) => setWallets((known) => [...known, wallet]))
    setAsked(true)
  }, [])
  const first = useRef(true)
  useEffect(() => {
    // The focused button is gone.
    if (!first.current) document.getElementById(account === null ? 'account-title' : 'invoice-amountUsdc')?.focus()
    first.current = false
  }, [account])
  const use = async (wallet: Wallet) => {
    setMessage(`Waiting for ${wallet.name}: choose the account that is to be paid.`)
    const end = await connect(wallet)
    setMessage(end.ok ? '' : end.message)
    if (end.ok) choose(end.account)
  }
  return html`<section class="step" aria-labelledby="account-title">
    <h2 id="account-title" tabindex="-1">1. Connect your wallet</h2>
    ${
      account === null
        ? html`<p class="hint">The account that you connect is the one that your customers pay. assay sees its address only, and cannot move money.</p>
            <ul id="wallets" class="bare wallets">
              ${wallets.map(
                (wallet) => html`<li key=${wallet.uuid}>
                  <button type="button" class="wallet" onClick=${() => void use(wallet)}>
                    <span class="initials" aria-hidden="true">${initials(wallet.name || 'Wallet')}</span
                    ><span>Connect ${wallet.name || 'a wallet without a name'}</span>
                  </button>
                </li>`,
              )}
            </ul>
            ${asked && wallets.length === 0 && html`<p class="hint" id="no-wallet">No wallet was found in this browser.</p>`}
            <${TypedAddress} choose=${choose} open=${asked && wallets.length === 0} />`
        : html`<p class="address" id="account">${account.address}</p>
            <p class="hint">
              ${account.wallet === null ? 'Typed, not connected: invoices are not signed.' : `Connected with ${account.wallet.name}.`}
            </p>
            <p><button type="button" class="plain" onClick=${() => choose(null)}>Use another account</button></p>`
    }
    <p class="said" role="status">${message}</p>
  </section>`
}

/** For merchants without a wallet in this browser. */
function TypedAddress({ choose, open }: { choose(account: Account): void; open: boolean }) {
  const [fault, setFault] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget
    const address = form instanceof HTMLFormElement ? (textOf(new FormData(form).get('address')) ?? '').trim() : ''
    if (/^0x[0-9a-fA-F]{40}$/.test(address)) return choose({ address, wallet: null })
    return setFault(`An address has 0x and 40 digits or letters from a to f, 42 characters in all; this one has ${address.length}.`)
  }
  return html`<details class="typed" open=${open}>
    <summary>Or type the address that is to be paid</summary>
    <form onSubmit=${submit} novalidate>
      <label for="typed-address">Address</label>
      <input
        id="typed-address"
        name="address"
        autocomplete="off"
        spellcheck=${false}
        maxlength="64"
        aria-invalid=${fault === '' ? undefined : 'true'}
        aria-describedby="typed-address-note"
      />
      <p id="typed-address-note" class=${fault === '' ? 'hint' : 'fault'}>
        ${fault || 'Invoices are then not signed: customers see that the merchant is not verified, and the list below cannot be read.'}
      </p>
      <p><button type="submit" class="plain">Use this address</button></p>
    </form>
  </details>`
}

interface NewInvoiceProps extends MerchantDeskProps {
  account: Account | null
  onCreated(invoice: CreatedInvoice): void
}

/** Form for a new invoice. The same content keeps its Idempotency-Key, so that a lost answer creates no second invoice. */
function NewInvoice({ account, onCreated, network, test_tokens }: NewInvoiceProps) {
  const [faults, setFaults] = useState<FormFaults>({ fields: {}, form: '' })
  const [message, setMessage] = useState('')
  const [busy, setBusy] = useState(false)
  const [made, setMade] = useState(0)
  const sent = useRef({ content: '', key: '' })
  const create = async (values: Record<string, unknown>) => {
    if (account === null) return setFaults({ fields: {}, form: 'Connect a wallet first (step 1).' })
    const body = { merchant: account.address, ...values }
    const content = JSON.stringify(body)
    if (sent.current.content !== content) sent.current = { content, key: crypto.randomUUID() }
    setBusy(true)
    setMessage('Creating the invoice …')
    const answer = await requestObject('/api/invoice/create', body, { 'idempotency-key': sent.current.key })
    if (answer?.ok !== true) {
      setFaults(fieldFaults(answer, FORM_FIELDS))
      setMessage('')
      return setBusy(false)
    }
    setFaults({ fields: {}, form: '' })
    setMade((count) => count + 1)
    const record = answer.body
    if (account.wallet === null) {
      onCreated({ record, signed: false, message: 'Not signed: the address was typed.' })
    } else {
      onCreated({ record, signed: record['merchant_verified'] === true, message: '' })
      setMessage(`Waiting for ${account.wallet.name}: sign the invoice.`)
      const end = record['sign'] === null ? { ok: true as const, body: record } : await signAndSend(account, record, {})
      onCreated(end.ok ? { record: end.body, signed: true, message: '' } : { record, signed: false, message: end.message })
    }
    sent.current = { content: '', key: '' }
    setMessage('')
    setBusy(false)
  }
  return html`<section class="step" aria-labelledby="form-title">
    <h2 id="form-title">2. Create the invoice</h2>
    <p class="hint">
      In USDC on ${network}${test_tokens ? ', test tokens without value' : ''}. The customer pays your account directly; the protocol fee is 0.
    </p>
    <${InvoiceForm} faults=${faults} created=${made} setFaults=${setFaults} busy=${busy} signs=${account === null || account.wallet !== null} create=${(values: Record<string, unknown>) => void create(values)} />
    <p class="said" id="creating" role="status">${message}</p>
  </section>`
}

interface ShareInvoiceProps extends MerchantDeskProps {
  account: Account | null
  created: CreatedInvoice
  onSigned(invoice: CreatedInvoice): void
}

const REFRESH_MS = 3_000

/** The invoice that was just created: its link, its state, and its signature if that is missing. */
function ShareInvoice({ created, account, onSigned, site_url, words }: ShareInvoiceProps) {
  const invoice = useInvoice(created.record)
  const [message, setMessage] = useState('')
  const place = useRef<HTMLDivElement>(null)
  // On a phone the form that was sent is a screen above.
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), [created.signed])
  if (invoice === null) return html`<p class="problem" role="alert">The answer of the service could not be read. Reload this page.</p>`
  const page_url = `${site_url}/pay/${invoice.invoice_id}`
  const sign = async () => {
    if (account === null) return setMessage('Connect a wallet first (step 1).')
    setMessage(`Waiting for ${account.wallet?.name ?? 'the wallet'}: sign the invoice.`)
    const end = await signAndSend(account, created.record, {})
    setMessage(end.ok ? '' : end.message)
    if (end.ok) onSigned({ record: end.body, signed: true, message: '' })
  }
  const { order_number, client_name, memo, amount_minor, expires_at } = invoice
  return html`<div id="created" ref=${place}>
    <p class="sum"><b>${usdc(amount_minor)} USDC</b> ${[client_name, order_number, memo].filter((text) => text !== null).join(' · ')}</p>
    <p id="created-state" role="status"><${SmallVerdict} mark=${INVOICE_MARKS[invoice.status]} word=${words[invoice.status]} /></p>
    ${
      !created.signed &&
      html`<div class="problem">
        <p>
          ${created.message || 'Waiting for your signature.'} Without it, your customer sees “not signed”, and the invoice is not in your list.
        </p>
        ${
          account !== null &&
          account.wallet !== null &&
          created.message !== '' &&
          html`<p><button type="button" id="sign-again" onClick=${() => void sign()}>Sign it now</button></p>`
        }
        <p class="said" role="status">${message}</p>
      </div>`
    }
    <p class="link"><code id="pay-link">${page_url}</code></p>
    <p class="acts">
      <button type="button" data-copies="pay-link">Copy<span class="heard"> the link</span></button>${' '}
      <a href=${`/pay/${invoice.invoice_id}`} target="_blank" rel="noopener">Open the payment page</a>${' '}
      <a href=${`/api/invoice/${invoice.invoice_id}/pdf`} target="_blank" rel="noopener">PDF</a>
    </p>
    <p class="hint">
      Anyone who has the link can see the invoice and pay it until ${timeText(expires_at)}. Send it by e-mail or chat. This page shows when it is
      paid.
    </p>
  </div>`
}

/** The newest known state of an invoice; asks the service until it is paid or void, while the page is visible. */
function useInvoice(record: Members): ListedInvoice | null {
  const [latest, setLatest] = useState(record)
  useEffect(() => setLatest(record), [record])
  const invoice = readInvoice(latest)
  const open = invoice !== null && isOpen(invoice)
  const id = invoice?.invoice_id ?? ''
  useEffect(() => {
    if (!open) return
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      void requestObject(`/api/invoice/${id}`, null).then((answer) => answer?.ok === true && setLatest(answer.body))
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [id, open])
  return invoice
}

/** Messages by field, and one for the whole form. */
interface FormFaults {
  fields: Readonly<Record<string, string>>
  form: string
}

interface FormField {
  /** Member of the request. */
  name: string
  label: string
  hint: string
  optional: boolean
  chars: number
  rows?: number
  inputmode?: string
  /** Choices with their texts, the usual one first. */
  options?: readonly (readonly [value: string, text: string])[]
  autocomplete?: string
  /** Value of an untouched field. */
  initial?: string
}

const FIELDS: readonly FormField[] = [
  {
    name: 'amountUsdc',
    label: 'Amount in USDC',
    hint: 'With a decimal point, such as 49.00; at most six decimals.',
    optional: false,
    chars: 32,
    inputmode: 'decimal',
  },
  {
    name: 'due_days',
    label: 'Payable for',
    hint: 'A payment that comes later still reaches you, and is marked as late. An invoice that you do not sign may be removed after 14 days.',
    optional: false,
    chars: 2,
    options: [
      ['14', '14 days'],
      ['30', '30 days'],
      ['60', '60 days'],
      ['90', '90 days'],
      ['7', '7 days'],
      ['3', '3 days'],
      ['1', '1 day'],
    ],
  },
  { name: 'clientName', label: 'Customer', hint: 'Name of the person or company that pays.', optional: true, chars: 120 },
  { name: 'order_number', label: 'Order number', hint: 'Your own number, such as 4711.', optional: true, chars: 64 },
  { name: 'memo', label: 'What it is for', hint: 'Such as “Website, May”. The customer sees it.', optional: true, chars: 500, rows: 2 },
  {
    name: 'return_url',
    label: 'Page of your shop',
    hint: 'https address that the customer can go back to after the payment.',
    optional: true,
    chars: 500,
    inputmode: 'url',
  },
]

/** Bank details, for customers who pay by bank. The names are the pointers of the members in the request. */
const BANK_FIELDS: readonly FormField[] = [
  { name: 'bank/iban', label: 'IBAN', hint: 'Account that the customer pays to.', optional: false, chars: 64 },
  { name: 'bank/name', label: 'Account holder', hint: 'As your bank knows it; at most 70 characters.', optional: false, chars: 70 },
  { name: 'bank/bic', label: 'BIC', hint: 'Needed for accounts outside the European Economic Area.', optional: true, chars: 11 },
  {
    name: 'bank/amount',
    label: 'Amount at the bank',
    hint: 'You state it, such as 45.00; no exchange rate is computed.',
    optional: false,
    chars: 16,
    inputmode: 'decimal',
  },
  {
    name: 'bank/currency',
    label: 'Currency',
    hint: 'Of account and amount; EUR has a QR code.',
    optional: false,
    chars: 3,
    initial: 'EUR',
  },
  {
    name: 'bank/reference',
    label: 'Reference',
    hint: 'Your own creditor reference (RF…); otherwise the invoice gets one.',
    optional: true,
    chars: 40,
  },
]
const BANK = 'bank/'

/** Body of the request; bank details are a member, left out if the form has none. */
function requestOf(given: Readonly<Record<string, string>>): Record<string, unknown> {
  const [bank, plain] = [true, false].map((is_bank) => Object.entries(given).filter(([name]) => name.startsWith(BANK) === is_bank)) as [
    [string, string][],
    [string, string][],
  ]
  const has_bank = bank.some(([name]) => name !== 'bank/currency')
  const members = { iban: '', name: '', amount: '', ...Object.fromEntries(bank.map(([name, value]) => [name.slice(BANK.length), value])) }
  return { ...Object.fromEntries(plain), due_days: Number(given['due_days']), ...(has_bank && { bank: members }) }
}

/** Message for an amount that the service would refuse for its form; null for one that it reads. */
function amountFault(amount: string): string | null {
  if (amount === '') return 'Enter the amount, such as 49.00.'
  if (/^[0-9]{1,10}(?:\.[0-9]{1,6})?$/.test(amount)) return null
  return `Use digits and one decimal point, without separators and with at most six decimals, such as 1250.50; found “${amount}”.`
}

const FORM_FIELDS = [...FIELDS, ...BANK_FIELDS].map(({ name }) => name)

interface InvoiceFormProps {
  faults: FormFaults
  /** Number of invoices that were created; the fields are emptied after each. */
  created: number
  setFaults(faults: FormFaults): void
  busy: boolean
  /** A wallet signs the invoice. */
  signs: boolean
  /** Gets the values of the fields that are not empty, by name. */
  create(values: Record<string, unknown>): void
}

/** Fields of an invoice, each with its hint or its fault. The first faulty field takes the focus. */
function InvoiceForm({ faults, created, setFaults, busy, signs, create }: InvoiceFormProps) {
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [faults])
  useEffect(() => {
    if (created > 0) form.current?.reset()
  }, [created])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (busy) return
    const data = new FormData(event.currentTarget)
    const values = [...FIELDS, ...BANK_FIELDS].map(({ name }) => [name, (textOf(data.get(name)) ?? '').trim()] as const)
    const given = Object.fromEntries(values.filter(([, value]) => value !== ''))
    const fault = amountFault(given['amountUsdc'] ?? '')
    if (fault === null) create(requestOf(given))
    else setFaults({ fields: { amountUsdc: fault }, form: '' })
  }
  return html`<form id="new-invoice" ref=${form} onSubmit=${submit} novalidate>
    ${FIELDS.map((field) => html`<${FieldInput} field=${field} fault=${faults.fields[field.name] ?? ''} />`)}
    <details class="typed" id="bank-details" open=${BANK_FIELDS.some(({ name }) => faults.fields[name] !== undefined) || undefined}>
      <summary>Bank details, for customers who pay by bank</summary>
      <p class="hint">
        They are part of what you sign and never change. When the money is booked, confirm it below with the statement of your bank.
      </p>
      ${BANK_FIELDS.map((field) => html`<${FieldInput} field=${field} fault=${faults.fields[field.name] ?? ''} />`)}
    </details>
    ${faults.form !== '' && html`<p class="fault" role="alert">${faults.form}</p>`}
    <p class="send"><button type="submit" aria-disabled=${String(busy)}>${signs ? 'Create and sign' : 'Create without a signature'}</button></p>
  </form>`
}

function FieldInput({ field, fault }: { field: FormField; fault: string }) {
  const { name, label, hint, optional } = field
  const id = `invoice-${name.replace('/', '-')}`
  const shared = {
    id,
    name,
    autocomplete: 'off',
    'aria-invalid': fault === '' ? undefined : 'true',
    'aria-describedby': `${id}-note`,
  }
  return html`<div class="field">
    <label for=${id}>${label}${optional && html` <span class="kind">optional</span>`}</label>
    <${FieldControl} field=${field} shared=${shared} />
    <p id=${`${id}-note`} class=${fault === '' ? 'hint' : 'fault'}>${fault || hint}</p>
  </div>`
}

function FieldControl({
  field: { chars, rows, inputmode, options, initial },
  shared,
}: {
  field: FormField
  shared: Record<string, string | undefined>
}) {
  if (options !== undefined) {
    return html`<select ...${shared}>${options.map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select>`
  }
  if (rows !== undefined) return html`<textarea ...${shared} maxlength=${chars} rows=${rows}></textarea>`
  return html`<input ...${shared} maxlength=${chars} inputmode=${inputmode} defaultValue=${initial} />`
}
