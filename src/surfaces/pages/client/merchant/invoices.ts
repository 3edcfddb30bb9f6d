import { isObject, objectsIn, textOf, type Members } from '../../../../pure/is-object.ts'
import { INVOICE_STATES, type InvoiceState } from '../../../../pure/invoices/standing.ts'
import { minorOf, paidAtBank, type PaidAtBank } from '../pay/record.ts'
import { requestObject, type ObjectReply } from '../json-request.ts'
import {
  DECLINED,
  isOnChain,
  REQUEST_OPEN,
  requestAccount,
  signTypedData,
  switchChain,
  UNKNOWN_CHAIN,
  walletErrorCode,
  type Wallet,
} from '../wallets.ts'

/** An invoice as the page for merchants shows it. */
export interface ListedInvoice {
  invoice_id: string
  status: InvoiceState
  exceptions: readonly string[]
  amount_minor: bigint
  paid_minor: bigint
  client_name: string | null
  memo: string | null
  order_number: string | null
  created_at: string
  expires_at: string
  settled_at: string | null
  /** Rail on which it was paid; null while it is not. */
  paid_by: 'chain' | 'bank' | null
  /** Bank transfer that the merchant confirmed. */
  bank_payment: PaidAtBank | null
  /** State of bank transfers, in words. */
  bank_status: string | null
  tx_hash: string | null
  transaction_url: string | null
  payer: string | null
}

/** Reads an entry of the list, or a whole record, which has the same members. Null if it is neither. */
export function readInvoice(value: Members): ListedInvoice | null {
  const status = INVOICE_STATES.find((state) => state === value['status'])
  const invoice_id = textOf(value['invoice_id'])
  const [amount_minor, paid_minor] = [minorOf(value['amount_minor']), minorOf(value['amount_paid_minor'])]
  if (status === undefined || invoice_id === null || amount_minor === null || paid_minor === null) return null
  const exceptions: unknown = value['exceptions']
  return {
    invoice_id,
    status,
    exceptions: Array.isArray(exceptions) ? exceptions.filter((one) => typeof one === 'string') : [],
    amount_minor,
    paid_minor,
    client_name: textOf(value['client_name']),
    memo: textOf(value['memo']),
    order_number: textOf(value['order_number']),
    created_at: textOf(value['created_at']) ?? '',
    expires_at: textOf(value['expires_at']) ?? '',
    settled_at: textOf(value['settled_at']),
    paid_by: value['paid_by'] === 'chain' || value['paid_by'] === 'bank' ? value['paid_by'] : null,
    bank_payment: paidAtBank(value['bank_payment']),
    bank_status: textOf(value['bank_status']),
    tx_hash: textOf(value['tx_hash']),
    transaction_url: textOf(value['transaction_url']),
    payer: payerOf(value),
  }
}

/** A record names the payer with each payment. */
function payerOf({ payer, payments, tx_hash }: Members): string | null {
  return textOf(payer) ?? textOf(objectsIn(payments).find((one) => one['tx_hash'] === tx_hash)?.['payer'])
}

/** True while a payment can still change the state. */
export function isOpen({ status }: Pick<ListedInvoice, 'status'>): boolean {
  return status !== 'SETTLED' && status !== 'VOID'
}

/** "2026-11-26 12:31 UTC" */
export function timeText(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`
}

/** Account that is paid; `wallet` is null for an address that was typed, which cannot sign here. */
export interface Account {
  address: string
  wallet: Wallet | null
}

/** Result of a request that the wallet signs. */
type SignedAnswer = { ok: true; body: Members } | { ok: false; message: string; reason: 'declined' | 'wallet' | 'service' }

/** Asks the wallet for its account. */
export async function connect(wallet: Wallet): Promise<{ ok: true; account: Account } | { ok: false; message: string }> {
  try {
    const address = await requestAccount(wallet)
    if (address !== null) return { ok: true, account: { address, wallet } }
    return { ok: false, message: `${wallet.name} shared no account. Choose one in the wallet and try again.` }
  } catch (error) {
    return { ok: false, message: walletMessage(error, wallet.name).message }
  }
}

/**
 * Signs what an answer or problem asks for in its member `sign`, and sends the signature where it says. `original` is the body of the request that
 * was answered, which a merge patch completes.
 */
export async function signAndSend({ address, wallet }: Account, answer: Members, original: Members): Promise<SignedAnswer> {
  const { sign } = answer
  if (wallet === null) return { ok: false, reason: 'wallet', message: 'Connect the wallet of this address to sign.' }
  if (!isObject(sign) || !isObject(sign['typed_data']) || !isObject(sign['submit'])) {
    return { ok: false, reason: 'service', message: problemText(answer) }
  }
  const { typed_data } = sign
  const { url, body, body_is } = sign['submit']
  try {
    const chain_id = isObject(typed_data['domain']) ? typed_data['domain']['chainId'] : undefined
    if (typeof chain_id === 'number' && !(await isOnChain(wallet, chain_id))) await switchChain(wallet, chain_id)
    const signature = await signTypedData(wallet, address, typed_data)
    if (signature === null) return { ok: false, reason: 'wallet', message: `${wallet.name} returned no signature. Try again.` }
    const filled = JSON.parse(JSON.stringify(body).replaceAll('{signature}', signature)) as Members
    const end = await requestObject(pathOf(url), body_is === 'merge_patch' ? { ...original, ...filled } : filled)
    return end?.ok === true ? { ok: true, body: end.body } : { ok: false, reason: 'service', message: refusalText(end) }
  } catch (error) {
    return { ok: false, ...walletMessage(error, wallet.name) }
  }
}

/** The page may be open under another host than the one that answers name. */
function pathOf(url: unknown): string {
  return URL.parse(textOf(url) ?? '', location.origin)?.pathname ?? '/'
}

const WALLET_TEXTS: Readonly<Record<number, string>> = {
  [REQUEST_OPEN]: 'already has an open request. Open the wallet and answer it, then try again.',
  [UNKNOWN_CHAIN]: 'does not have the network of this invoice. Add it in the wallet, then try again.',
}

/** Errors of EIP-1193 and EIP-3085 as texts. */
function walletMessage(error: unknown, name: string): { message: string; reason: 'declined' | 'wallet' } {
  const code = walletErrorCode(error)
  if (code === DECLINED) return { reason: 'declined', message: `You declined in ${name}. Nothing was signed.` }
  return { reason: 'wallet', message: `${name} ${WALLET_TEXTS[code ?? 0] ?? 'did not sign. Open it, unlock it, and try again.'}` }
}

const UNREACHABLE = 'The service could not be reached. Check your connection and try again.'

export function refusalText(reply: ObjectReply | null): string {
  return reply === null ? UNREACHABLE : problemText(reply.body)
}

function problemText(problem: Members): string {
  return textOf(problem['detail']) ?? textOf(problem['title']) ?? 'The request was refused.'
}

/** Messages of a refused form by the name of the field; those of no field of the form are in `form`. */
export function fieldFaults(reply: ObjectReply | null, fields: readonly string[]): { fields: Record<string, string>; form: string } {
  if (reply === null) return { fields: {}, form: UNREACHABLE }
  const found: Record<string, string> = {}
  for (const { pointer, message } of objectsIn(reply.body['errors'])) {
    const name = (textOf(pointer) ?? '').slice(1)
    if (fields.includes(name)) found[name] ??= textOf(message) ?? ''
  }
  return { fields: found, form: Object.keys(found).length > 0 ? '' : problemText(reply.body) }
}
