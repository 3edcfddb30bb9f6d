import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { textOf } from '../client/shapes.ts'
import { html } from '../html.ts'

/** Messages by field, and one for the whole form. */
export interface FormFaults {
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
  autocomplete?: string
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

/** Message for an amount that the service would refuse for its form; null for one that it reads. */
function amountFault(amount: string): string | null {
  if (amount === '') return 'Enter the amount, such as 49.00.'
  if (/^[0-9]{1,10}(?:\.[0-9]{1,6})?$/.test(amount)) return null
  return `Use digits and one decimal point, without separators and with at most six decimals, such as 1250.50; found “${amount}”.`
}

export const FORM_FIELDS = FIELDS.map(({ name }) => name)

interface InvoiceFormProps {
  faults: FormFaults
  /** Number of invoices that were created; the fields are emptied after each. */
  created: number
  setFaults(faults: FormFaults): void
  busy: boolean
  /** A wallet signs the invoice. */
  signs: boolean
  /** Gets the values of the fields that are not empty, by name. */
  create(values: Record<string, string>): void
}

/** Fields of an invoice, each with its hint or its fault. The first faulty field takes the focus. */
export function InvoiceForm({ faults, created, setFaults, busy, signs, create }: InvoiceFormProps) {
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
    const values = FIELDS.map(({ name }) => [name, (textOf(data.get(name)) ?? '').trim()] as const)
    const given = Object.fromEntries(values.filter(([, value]) => value !== ''))
    const fault = amountFault(given['amountUsdc'] ?? '')
    if (fault === null) create(given)
    else setFaults({ fields: { amountUsdc: fault }, form: '' })
  }
  return html`<form id="new-invoice" ref=${form} onSubmit=${submit} novalidate>
    ${FIELDS.map((field) => html`<${FieldInput} field=${field} fault=${faults.fields[field.name] ?? ''} />`)}
    ${faults.form !== '' && html`<p class="fault" role="alert">${faults.form}</p>`}
    <p class="send"><button type="submit" aria-disabled=${String(busy)}>${signs ? 'Create and sign' : 'Create without a signature'}</button></p>
  </form>`
}

function FieldInput({ field, fault }: { field: FormField; fault: string }) {
  const { name, label, hint, optional, chars, rows, inputmode } = field
  const id = `invoice-${name}`
  const shared = {
    id,
    name,
    maxlength: chars,
    autocomplete: 'off',
    'aria-invalid': fault === '' ? undefined : 'true',
    'aria-describedby': `${id}-note`,
  }
  return html`<div class="field">
    <label for=${id}>${label}${optional && html` <span class="kind">optional</span>`}</label>
    ${rows === undefined ? html`<input ...${shared} inputmode=${inputmode} />` : html`<textarea ...${shared} rows=${rows}></textarea>`}
    <p id=${`${id}-note`} class=${fault === '' ? 'hint' : 'fault'}>${fault || hint}</p>
  </div>`
}
