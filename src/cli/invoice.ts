import { readFileSync, statSync } from 'node:fs'
import { createChain } from '../adapters/chain/rpc.ts'
import { systemClock } from '../adapters/clock/system.ts'
import type { Signer } from '../ports/signer.ts'
import { DEPOSIT_FACTORY, DETERMINISTIC_DEPLOYER } from '../pure/contracts/deployment.ts'
import { sameAmount } from '../pure/invoices/input.ts'
import { bankSignedText, type BankTerms } from '../pure/invoices/links.ts'
import {
  documentSha256,
  listDigest,
  listTypedData,
  merchantDigest,
  merchantKind,
  merchantTypedData,
  statementDigest,
  statementTypedData,
  type SignedTerms,
} from '../pure/invoices/terms.ts'
import { isObject } from '../pure/is-object.ts'
import { canonicalText } from '../pure/receipts/canonical.ts'
import { nobleCrypto } from '../pure/receipts/crypto.ts'
import { RAIL_LIMITS } from '../service/limits.ts'
import type { Invocation } from './commands.ts'
import { markMode, readEnvironment } from './deployment.ts'
import { CliError, type Exit, printable, unknownName } from './errors.ts'
import { keySigner, requestService, type ServiceAnswer, serviceUrl } from './remote.ts'
import { outcomeMark, say, table, terminalWidth, wantsJson } from './terminal.ts'

type Act = (invocation: Invocation) => Promise<Exit>

const ACTIONS: Readonly<Record<string, () => Promise<Act>>> = {
  create: () => Promise.resolve(createInvoice),
  sign: () => Promise.resolve(signInvoice),
  list: () => Promise.resolve(listInvoices),
  confirm: () => Promise.resolve(confirmTransfers),
  reconcile: async () => (await import('./invoice-reconcile.ts')).reconcileInvoices,
  erase: async () => (await import('./invoice-erase.ts')).eraseInvoice,
  factory: () => Promise.resolve(showFactory),
}

/** `assay invoice`: invoices of a service, what bank statements report of them, and the factory of deposit addresses. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word, more] = invocation.words
  const names = Object.keys(ACTIONS)
  if (word === undefined) throw new CliError('usage', `Give an action: assay invoice ${names.join(' | ')}.`)
  const load = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined
  if (load === undefined) throw unknownName('action', word, names, `The actions are ${names.join(', ')}.`)
  if (more !== undefined && word !== 'sign' && word !== 'erase')
    throw new CliError('usage', `assay invoice ${word} takes no further argument.`)
  return (await load())(invocation)
}

/** `assay invoice factory`: whether the live chain has the factory of deposit addresses, and the transaction that deploys it. Sends nothing. */
async function showFactory(invocation: Invocation): Promise<Exit> {
  const settings = readEnvironment()
  markMode(settings)
  const { ASSAY_MODE, ASSAY_CHAIN_ID, ASSAY_RPC_URLS } = settings
  const { address, deploy_calldata } = DEPOSIT_FACTORY
  const transaction = { to: DETERMINISTIC_DEPLOYER, data: deploy_calldata }
  // The sandbox deploys it at its start.
  const deployed = ASSAY_MODE === 'sandbox' || (await hasCode(ASSAY_RPC_URLS, ASSAY_CHAIN_ID, address))
  if (wantsJson(invocation)) say(JSON.stringify({ chain_id: ASSAY_CHAIN_ID, factory: address, deployed, transaction }))
  else if (deployed) say(`The factory of deposit addresses is at ${address} on chain ${ASSAY_CHAIN_ID}.`)
  else {
    say(`Chain ${ASSAY_CHAIN_ID} has no factory of deposit addresses at ${address}. To deploy it, send this transaction without value`)
    say('from any account but the gas wallet, whose account nonces the service counts; about 720,000 gas:\n')
    say(`to    ${transaction.to}\ndata  ${transaction.data}`)
  }
  return deployed ? 'ok' : 'negative'
}

async function hasCode(urls: readonly string[], chain_id: number, address: string): Promise<boolean> {
  const [code] = await createChain({ urls, chain_id, clock: systemClock }).read([{ kind: 'code', address }])
  return code?.ok === true && code.data !== '0x'
}

type Members = Readonly<Record<string, unknown>>

/** `assay invoice create`: creates an invoice at a service, and signs it when the key of the merchant is given. */
async function createInvoice(invocation: Invocation): Promise<Exit> {
  const url = serviceUrl(invocation)
  const file = invocation.text('key-file')
  const signer = file === null ? null : keySigner(file)
  const merchant = signer?.address ?? invocation.text('merchant')
  if (merchant === null) throw new CliError('usage', 'Give the merchant: --key-file <file> to sign the invoice, or --merchant <address>.')
  if (signer !== null && invocation.text('merchant') !== null)
    throw new CliError('usage', '--merchant goes without --key-file: the key decides who is paid.')
  const amount_usdc = invocation.text('amount')
  if (amount_usdc === null) throw new CliError('usage', 'Give the amount in USDC: --amount 49.00.')
  const client_name = invocation.text('client-name')
  const memo = invocation.text('memo')
  const bank = bankOptions(invocation)
  const asked = {
    amount_usdc,
    merchant,
    ...(client_name === null ? {} : { client_name }),
    ...(memo === null ? {} : { memo }),
    ...(bank === null ? {} : { bank }),
  }
  const created = recordOf(await requestService(url, '/api/invoice/create', asked))
  if (signer === null) return showInvoice(created, invocation)
  // Only what was asked for is signed.
  const same =
    created['merchant'] === merchant &&
    sameAmount(created['amount_usdc'], amount_usdc) &&
    created['memo'] === memo &&
    created['client_name'] === client_name &&
    isSameBank(bankIn(created), bank)
  if (!same) throw new CliError('negative', 'The service created another invoice than the one that was asked for. Nothing was signed.')
  const signed = await signRecord(url, signer, created)
  const { webhook_token } = created
  return showInvoice({ ...signed, ...(webhook_token === undefined ? {} : { webhook_token }) }, invocation)
}

/** Bank details of the options; null if there are none. */
function bankOptions(invocation: Invocation): Record<string, string> | null {
  const text = (name: string) => invocation.text(`bank-${name}`)
  const [iban, name, amount] = [text('iban'), text('name'), text('amount')]
  const others = { bic: text('bic'), currency: text('currency'), reference: text('reference') }
  if (iban === null && name === null && amount === null && Object.values(others).every((value) => value === null)) return null
  if (iban === null || name === null || amount === null)
    throw new CliError('usage', 'Bank details need --bank-iban, --bank-name and --bank-amount, such as 45.00.')
  const given = Object.entries({ ...others, currency: others.currency ?? 'EUR' }).filter(
    (pair): pair is [string, string] => pair[1] !== null,
  )
  return { iban, name, amount, ...Object.fromEntries(given) }
}

/** Compares the account in a record with the one that was asked for, apart from spaces. */
function isSameBank(found: BankTerms | null, asked: Record<string, string> | null): boolean {
  if (found === null || asked === null) return found === null && asked === null
  const plain = (text: string | null | undefined) => (text ?? '').replace(/[\s-]/g, '').toUpperCase()
  const same = (['iban', 'bic', 'currency', 'reference'] as const).every((name) => plain(found[name]) === plain(asked[name]))
  return same && found.name === asked['name']?.normalize('NFC').trim() && sameAmount(found.amount, asked['amount'])
}

/** Bank details in a record; null if it has none. */
function bankIn(record: Members): BankTerms | null {
  const { bank } = record
  if (!isObject(bank)) return null
  const text = (name: string) => {
    const value = bank[name]
    return typeof value === 'string' ? value : null
  }
  const [name, iban, currency, amount] = ['name', 'iban', 'currency', 'amount'].map(text)
  if (name == null || iban == null || currency == null || amount == null) throw notOurs()
  return { name, iban, bic: text('bic'), currency, amount, reference: text('reference') }
}

/** `assay invoice confirm`: sends a statement of the bank that confirms transfers of invoices which the key has signed. */
async function confirmTransfers(invocation: Invocation): Promise<Exit> {
  const url = serviceUrl(invocation)
  const signer = merchantKey(invocation)
  const path = invocation.text('statement')
  if (path === null) throw new CliError('usage', 'Give the statement of your bank: --statement <camt.053 or camt.054>.')
  const document = readStatementFile(path)
  const issued_at = Math.floor(systemClock.now_ms() / 1_000)
  const asked = { document, merchant: signer.address, issued_at: String(issued_at) }
  const { body } = await requestService(url, '/api/invoice/statement', asked)
  const { service } = messageOf(signOf(body, 'invoice-statement'))
  const document_sha256 = documentSha256(document)
  const terms = { service: typeof service === 'string' ? service : '', merchant: signer.address, document_sha256, issued_at }
  expectTypedData(body, statementTypedData(terms))
  const signature = signer.sign(statementDigest(terms, nobleCrypto))
  const report = membersOf(await requestService(url, '/api/invoice/statement', { ...asked, signature }))
  const invoices = Array.isArray(report['invoices']) ? report['invoices'].filter(isObject) : []
  const unmatched = Array.isArray(report['unmatched']) ? report['unmatched'].filter(isObject) : []
  const is_paid = ({ outcome }: Members) => outcome === 'closed' || outcome === 'already_closed'
  if (wantsJson(invocation)) say(JSON.stringify(report))
  else {
    const lines = invoices.map((one) => outcomeMark(is_paid(one), printable(`${String(one['invoice_id'])}: ${String(one['message'])}`)))
    const strays = unmatched.map(({ reason, reference, amount, currency }) =>
      printable(`${String(reference)}  ${String(amount)} ${String(currency)}  ${String(reason)}`),
    )
    say([...(lines.length === 0 ? ['The statement names no invoice that this key has signed.'] : lines), ...strays].join('\n'))
  }
  return invoices.length > 0 && invoices.every(is_paid) ? 'ok' : 'negative'
}

function readStatementFile(path: string): string {
  try {
    if (statSync(path).size > RAIL_LIMITS.upload_chars)
      throw new CliError('data', `${printable(path)} is too long: a statement may have ${RAIL_LIMITS.upload_chars} bytes. Send fewer days.`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError('no_input', `Cannot read ${printable(path)} as UTF-8. Check the path, its permissions and its encoding.`)
  }
}

/** `assay invoice sign <id>`: signs an invoice as its merchant. */
async function signInvoice(invocation: Invocation): Promise<Exit> {
  const url = serviceUrl(invocation)
  const [, id] = invocation.words
  if (id === undefined || !/^inv_[0-9a-z]{12,26}$/.test(id))
    throw new CliError('usage', 'Give the id of the invoice: assay invoice sign inv_…')
  const signer = merchantKey(invocation)
  const record = recordOf(await requestService(url, `/api/invoice/${id}`))
  if (record['merchant'] !== signer.address)
    throw new CliError(
      'usage',
      `The invoice is of the merchant ${printable(String(record['merchant']))}, and the key is that of ${signer.address}.`,
    )
  return showInvoice(record['merchant_verified'] === true ? record : await signRecord(url, signer, record), invocation)
}

/** `assay invoice list`: the invoices that the key has signed, newest first, page by page. */
async function listInvoices(invocation: Invocation): Promise<Exit> {
  const url = serviceUrl(invocation)
  const signer = merchantKey(invocation)
  const asked = { merchant: signer.address }
  const issued_at = Math.floor(systemClock.now_ms() / 1_000)
  const { body } = await requestService(url, '/api/invoice/list', { ...asked, issued_at: String(issued_at) })
  const { service } = messageOf(signOf(body, 'invoice-list'))
  const terms = { service: typeof service === 'string' ? service : '', merchant: signer.address, issued_at }
  expectTypedData(body, listTypedData(terms))
  const signature = signer.sign(listDigest(terms, nobleCrypto))
  const invoices: Members[] = []
  let page = membersOf(await requestService(url, '/api/invoice/list', { ...asked, issued_at: String(issued_at), signature }))
  for (let pages = 1; ; pages++) {
    if (Array.isArray(page['invoices'])) invoices.push(...page['invoices'].filter(isObject))
    const { next_before: before, token } = page
    if (typeof before !== 'number' || typeof token !== 'string' || pages === PAGES_MAX) break
    page = membersOf(await requestService(url, '/api/invoice/list', { ...asked, token, before }))
  }
  const more = typeof page['next_before'] === 'number'
  if (wantsJson(invocation)) say(JSON.stringify({ merchant: signer.address, invoices, complete: !more }))
  else
    say(
      [...table(invoices.map(listRow)), invoices.length === 0 ? 'No invoice is signed by this key.' : '', more ? MORE : '']
        .filter(Boolean)
        .join('\n'),
    )
  return 'ok'
}

const PAGES_MAX = 100
const MORE = 'There are older invoices.'

function listRow({ invoice_id, status, amount_usdc, client_name, created_at, ...paid }: Members): string[] {
  const cells = [invoice_id, status, `${String(amount_usdc)} USDC`, railText(paid), String(created_at).slice(0, 10), client_name ?? '']
  return cells.map((cell) => printable(String(cell)))
}

/** Returns how it was paid, and the state of bank transfers. */
function railText({ paid_by, bank_payment, bank_status }: Members): string {
  if (paid_by === 'bank' && isObject(bank_payment)) {
    const { amount, currency, reference, booked_on } = bank_payment
    return [`by bank ${String(amount)} ${String(currency)}`, reference, booked_on].filter((part) => typeof part === 'string').join(' ')
  }
  if (paid_by === 'chain') return 'on chain'
  return typeof bank_status === 'string' ? bank_status : ''
}

function merchantKey(invocation: Invocation): Signer {
  const file = invocation.text('key-file')
  if (file === null) throw new CliError('usage', 'Give the key of the merchant: --key-file <file>.')
  return keySigner(file)
}

/** Signs the terms of a record, made here from its members, after comparing them with the typed data that the service shows. */
async function signRecord(url: string, signer: Signer, record: Members): Promise<Members> {
  const terms = termsOf(record, signer.address)
  expectTypedData(record, merchantTypedData('issue', terms))
  const signature = signer.sign(merchantDigest('issue', terms, nobleCrypto))
  return recordOf(await requestService(url, `/api/invoice/${terms.invoice_id}/sign`, { signature }))
}

function termsOf(record: Members, merchant: string): SignedTerms {
  const text = (name: string) => (typeof record[name] === 'string' ? record[name] : '')
  const bank = bankIn(record)
  const domain = domainOf(signOf(record, merchantKind('issue', { bank })))
  const [invoice_id, amount_minor, cart_hash] = [text('invoice_id'), text('amount_minor'), text('cart_hash')]
  const { chainId: chain_id, verifyingContract: token } = domain
  const fit = /^inv_[0-9a-z]{12,26}$/.test(invoice_id) && /^\d{1,30}$/.test(amount_minor) && /^0x[0-9a-f]{64}$/.test(cart_hash)
  if (!fit || typeof chain_id !== 'number' || typeof token !== 'string' || !/^0x[0-9a-f]{40}$/.test(token)) throw notOurs()
  return { invoice_id, merchant, amount_minor, cart_hash, chain_id, token, bank }
}

/** Member `sign` of an answer or a problem, if it is of this kind. */
function signOf(body: unknown, kind: string): Members {
  const sign = isObject(body) ? body['sign'] : undefined
  if (isObject(sign) && sign['kind'] === kind && isObject(sign['typed_data'])) return sign['typed_data']
  // A problem without such a member says why.
  const detail = isObject(body) && typeof body['detail'] === 'string' ? body['detail'] : null
  throw detail === null ? notOurs() : new CliError('data', printable(detail))
}

function messageOf(typed_data: Members): Members {
  return isObject(typed_data['message']) ? typed_data['message'] : {}
}

function domainOf(typed_data: Members): Members {
  return isObject(typed_data['domain']) ? typed_data['domain'] : {}
}

function expectTypedData(body: unknown, mine: unknown): void {
  const sign = isObject(body) && isObject(body['sign']) ? body['sign'] : {}
  if (canonicalText(sign['typed_data'] ?? null) !== canonicalText(mine)) throw notOurs()
}

function notOurs(): CliError {
  return new CliError('negative', 'The service asks for a signature over something else than this invoice. Nothing was signed.')
}

function recordOf(answer: ServiceAnswer): Members {
  const record = membersOf(answer)
  if (typeof record['invoice_id'] !== 'string') throw new CliError('unavailable', 'The answer at --url is not an invoice of this service.')
  return record
}

/** Members of a successful answer; throws the detail of a problem. */
function membersOf({ status, body }: ServiceAnswer): Members {
  if (isObject(body) && status < 300) return body
  const detail = isObject(body) && typeof body['detail'] === 'string' ? body['detail'] : `Status ${status} and no document.`
  throw new CliError(status >= 500 ? 'unavailable' : 'data', printable(detail), pointers(body))
}

function pointers(body: unknown): string[] {
  const errors = isObject(body) && Array.isArray(body['errors']) ? body['errors'].filter(isObject) : []
  return errors.map(({ pointer, message }) => printable(`  ${String(pointer)}  ${String(message)}`))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : ''
}

function showInvoice(record: Members, invocation: Invocation): Exit {
  if (wantsJson(invocation)) {
    say(JSON.stringify(record))
    return 'ok'
  }
  const rows = [
    ['Invoice', 'invoice_id'],
    ['Amount', 'amount_usdc'],
    ['Merchant', 'merchant'],
    ['For the payer', 'page_url'],
    ['Expires', 'expires_at'],
  ].map(([label = '', name = '']) => [label, textOf(record[name])])
  const bank = bankIn(record)
  if (bank !== null) rows.push(['By bank', printable(bankSignedText(bank))])
  const signed = record['merchant_verified'] === true
  say(
    [
      outcomeMark(true, String(record['status'])),
      signed ? 'Signed by the merchant.' : 'Not signed by the merchant.',
      ...table(rows, terminalWidth(), ['muted']),
    ].join('\n'),
  )
  return 'ok'
}
