import { INVOICE_FAULTS, sameAmount, type InvoiceAsked, type InvoiceFault } from '../../pure/invoices/input.ts'
import { unknownField } from '../../service/catalogue/decode.ts'
import { INVOICE_RULES } from '../../service/invoices/rules.ts'
import { problem, type Problem, type ProblemError } from '../../service/problems.ts'

/** Members of a request for an invoice: the specified name first, then the tool's. */
const SPELLINGS = { amount: ['amountUsdc', 'amount_usdc'], client_name: ['clientName', 'client_name'] } as const
const KNOWN = ['amountUsdc', 'amount_usdc', 'merchant', 'clientName', 'client_name', 'memo', 'referrer', 'signature']

/** 1 to 4096 bytes: contract wallets sign as long as they like. */
export const MERCHANT_SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){1,4096}$/

/** `signature` is that of the merchant; null for an unsigned invoice. */
export type InvoiceRequest = { ok: true; asked: InvoiceAsked; signature: string | null } | { ok: false; problem: Problem }

/** Reads the body of `POST /api/invoice/create`, in either spelling. Values are never quoted. */
export function readInvoiceRequest(body: unknown): InvoiceRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refuse([{ pointer: '', code: 'invalid_type', message: 'Send an object.' }])
  const fields = new Map(Object.entries(body))
  const errors: ProblemError[] = []
  const fail = (name: string, code: string, message: string) => void errors.push({ pointer: name === '' ? '' : `/${name}`, code, message })
  for (const name of [...fields.keys()].filter((one) => !KNOWN.includes(one)).slice(0, STRAYS_NAMED))
    errors.push(unknownField('', name, KNOWN))
  const one = (names: readonly string[], same: (one: unknown, other: unknown) => boolean) => {
    const [first, second] = names.filter((name) => fields.has(name))
    if (first !== undefined && second !== undefined && !same(fields.get(first), fields.get(second))) {
      fail(second, 'invalid_value', `It differs from ${first}; give one of them.`)
    }
    return { name: first ?? names[0] ?? '', value: first === undefined ? undefined : fields.get(first) }
  }
  const amount = amountOf(one(SPELLINGS.amount, sameAmount), fail)
  const merchant = addressOf({ name: 'merchant', value: fields.get('merchant') }, fail)
  const client_name = textOf(one(SPELLINGS.client_name, Object.is), INVOICE_RULES.client_name_chars, fail)
  const memo = textOf({ name: 'memo', value: fields.get('memo') }, INVOICE_RULES.memo_chars, fail)
  const referrer = fields.has('referrer') ? addressOf({ name: 'referrer', value: fields.get('referrer') }, fail) : undefined
  const signature = signatureOf(fields.get('signature'), fail)
  return errors.length > 0 ? refuse(errors) : { ok: true, asked: { amount, merchant, client_name, memo, referrer }, signature }
}

/** Unknown members that are named; a body of thousands is not repeated. */
const STRAYS_NAMED = 20

interface Member {
  name: string
  value: unknown
}
type Fail = (name: string, code: string, message: string) => void

function amountOf({ name, value }: Member, fail: Fail): number | string {
  if (typeof value === 'number' && value >= 0 && value <= INVOICE_RULES.amount_max) return value
  if (typeof value === 'string' && value.length <= INVOICE_RULES.amount_chars && /^[0-9]{1,12}(?:\.[0-9]{1,18})?$/.test(value)) return value
  fail(
    name,
    value === undefined ? 'missing' : 'invalid_value',
    'Give the amount in USDC, as a number from 0 to 1000000000 or as decimal text.',
  )
  return 0
}

function addressOf({ name, value }: Member, fail: Fail): string {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value
  fail(name, value === undefined ? 'missing' : 'invalid_value', 'Give an address: 0x and 40 hexadecimal digits.')
  return ''
}

function textOf({ name, value }: Member, chars: number, fail: Fail): string | undefined {
  if (value === undefined || (typeof value === 'string' && value.length <= chars)) return value
  fail(name, 'invalid_value', `Give a text of at most ${chars} characters.`)
  return undefined
}

function signatureOf(value: unknown, fail: Fail): string | null {
  if (value === undefined) return null
  if (typeof value === 'string' && MERCHANT_SIGNATURE.test(value)) return value
  fail('signature', 'invalid_value', 'Give the signature of the merchant: 0x and 1 to 4096 bytes in hexadecimal.')
  return null
}

/** What keeps the content from being invoiced, as a problem of the request. */
export function contentProblem(fault: InvoiceFault, field: string): Problem {
  const message = INVOICE_FAULTS[fault]
  return problem('INPUT_SCHEMA_INVALID', message, { errors: [{ pointer: `/${CAMEL[field] ?? field}`, code: fault, message }] })
}

const CAMEL: Readonly<Record<string, string>> = { amount_usdc: 'amountUsdc', client_name: 'clientName' }

function refuse(errors: ProblemError[]): InvoiceRequest {
  const [first] = errors
  return { ok: false, problem: problem('INPUT_SCHEMA_INVALID', first?.message ?? 'The body does not fit.', { errors }) }
}
