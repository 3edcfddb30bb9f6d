import { decodePDFRawStream, PDFDocument, PDFRawStream } from 'pdf-lib'
import { encodeFunctionData, keccak256, parseAbi, toBytes, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { authorization, transferTypes, usdcDomain, type Authorization } from './authorization.ts'
import { inTurn } from './in-turn.ts'
import { readRequired, signTerms } from './paying.ts'
import type { ChainView } from './paying-chain.ts'
import { stranger, type Answered } from './paying-calls.ts'
import type { World } from './paying-world.ts'
import { SANDBOX_OWNER } from '../../src/adapters/chain/sandbox-contracts.ts'

/** Invoices as a stranger makes and pays them: over HTTP alone, signed by viem. */

export interface InvoiceShown {
  invoice_id: string
  status: string
  exceptions: string[]
  merchant: Hex
  merchant_verified: boolean
  amount_minor: string
  amount_due_minor: string
  amount_paid_minor: string
  overpaid_minor: string
  cart_hash: Hex
  payment_nonce: Hex
  tx_hash: string | null
  payments: { tx_hash: string; payer: string; amount_minor: string; matched_by: string; method: string; confirmed: boolean }[]
  [member: string]: unknown
}

export async function send(url: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answered> {
  const from = { 'x-forwarded-for': stranger(), ...headers }
  const response = await fetch(url, body === undefined ? { headers: from } : { method: 'POST', headers: from, body: JSON.stringify(body) })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  }
}

export async function issue(world: World, amount: string, merchant: string = newMerchant().address): Promise<InvoiceShown> {
  const made = await send(`${world.url}/api/invoice/create`, { amountUsdc: amount, merchant })
  if (made.status !== 201) throw new Error(made.text)
  return made.body as InvoiceShown
}

/** An invoice that its merchant has signed, so that plain transfers are matched to it. */
export async function issueSigned(world: World, amount: string, merchant: PrivateKeyAccount = newMerchant()): Promise<InvoiceShown> {
  const invoice = await issue(world, amount, merchant.address)
  const signature = await signAsMerchant(world.chain, merchant, invoice, 'Issue')
  const signed = await send(`${invoiceUrl(world, invoice)}/sign`, { signature })
  if (signed.status !== 200) throw new Error(signed.text)
  return signed.body as InvoiceShown
}

export function newMerchant(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey())
}

export function invoiceUrl(world: World, { invoice_id }: Pick<InvoiceShown, 'invoice_id'>): string {
  return `${world.url}/api/invoice/${invoice_id}`
}

/** The record after the service has looked at the chain once more. */
export async function looked(world: World, { invoice_id }: Pick<InvoiceShown, 'invoice_id'>): Promise<InvoiceShown> {
  const view = await world.running.app.deps.invoices.service.look(invoice_id)
  if (view === null) throw new Error('the invoice is not there')
  return view.record as InvoiceShown
}

/** A transfer that names the invoice, signed by the payer. */
export async function signFor(
  { chain_id, token }: Pick<ChainView, 'chain_id' | 'token'>,
  payer: PrivateKeyAccount,
  invoice: InvoiceShown,
  change: Partial<Authorization> = {},
) {
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + 600)
  const plain = { nonce: invoice.payment_nonce, validBefore, ...change }
  const message = { ...authorization(payer.address, invoice.merchant, BigInt(invoice.amount_due_minor), {}), ...plain }
  const domain = usdcDomain(chain_id, token)
  const signature = await payer.signTypedData({ domain, types: transferTypes, primaryType: 'TransferWithAuthorization', message })
  const { from, to, nonce } = message
  const numbers = { value: String(message.value), validAfter: String(message.validAfter), validBefore: String(message.validBefore) }
  return { message, signature, body: { authorization: { from, to, nonce, ...numbers }, signature } }
}

/** Pays as any x402 client does, from the terms that pay_url answers. */
export async function payByX402(world: World, payer: PrivateKeyAccount, invoice: InvoiceShown) {
  const url = `${invoiceUrl(world, invoice)}/pay`
  const asked = await send(url)
  const required = readRequired(asked.headers.get('payment-required') ?? '')
  const payment = await signTerms(payer, required)
  return { required, payment, answer: await send(url, {}, { 'payment-signature': payment.v2 }) }
}

const TOKEN = parseAbi([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
  'function transfer(address,uint256)',
])

/** Sent by somebody else than the service. Resolves when mined. */
export async function sendAsStranger(
  { rpc, token }: ChainView,
  { message, signature }: { message: Authorization; signature: Hex },
): Promise<string> {
  const { from, to, value, validAfter, validBefore, nonce } = message
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  return mined(rpc, token, SANDBOX_OWNER, encodeFunctionData({ abi: TOKEN, functionName: 'transferWithAuthorization', args }))
}

/** A transfer from a wallet, which names nothing. */
export async function transferPlainly({ rpc, token }: ChainView, payer: PrivateKeyAccount, to: Hex, value: bigint): Promise<string> {
  await rpc('anvil_setBalance', [payer.address, `0x${(10n ** 18n).toString(16)}`])
  return mined(rpc, token, payer.address, encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to, value] }))
}

async function mined(rpc: ChainView['rpc'], token: Hex, from: string, data: Hex): Promise<string> {
  await rpc('anvil_impersonateAccount', [from])
  const hash = String(await inTurn(from, () => rpc('eth_sendTransaction', [{ from, to: token, data, gas: '0x30d40' }])))
  await rpc('evm_mine')
  return hash
}

/** An account of viem, from whichever of the two installed copies. */
interface TypedDataSigner {
  signTypedData(parameters: {
    domain: { name: string; version: string; chainId: number; verifyingContract: Hex }
    types: Record<string, { name: string; type: string }[]>
    primaryType: string
    message: Record<string, unknown>
  }): Promise<Hex>
}

/** What a merchant signs, as EIP-712 wallets take it; who signs may be the owner of a merchant that is a contract, or a stranger. */
export function signAsMerchant(
  { chain_id, token }: Pick<ChainView, 'chain_id' | 'token'>,
  merchant: TypedDataSigner,
  invoice: InvoiceShown,
  act: 'Issue' | 'Void',
): Promise<Hex> {
  return merchant.signTypedData({
    domain: { name: 'assay invoice', version: '1', chainId: chain_id, verifyingContract: token },
    types: {
      [`Invoice${act}`]: [
        { name: 'invoice', type: 'bytes32' },
        { name: 'merchant', type: 'address' },
        { name: 'amount', type: 'uint256' },
        { name: 'cart', type: 'bytes32' },
      ],
    },
    primaryType: `Invoice${act}`,
    message: {
      invoice: keccak256(toBytes(invoice.invoice_id)),
      merchant: invoice.merchant,
      amount: BigInt(invoice.amount_minor),
      cart: invoice.cart_hash,
    },
  })
}

/** What a merchant signs to create an invoice over 10 USDC that is signed from the start. */
export async function signCreation(
  { chain_id, token }: Pick<ChainView, 'chain_id' | 'token'>,
  merchant: PrivateKeyAccount,
  key: string,
  { client_name = null, memo = null }: { client_name?: string | null; memo?: string | null } = {},
): Promise<Hex> {
  const cart = {
    amount_minor: '10000000',
    chain_id,
    client_name,
    memo,
    merchant: merchant.address.toLowerCase(),
    token: token.toLowerCase(),
  }
  return merchant.signTypedData({
    domain: { name: 'assay invoice', version: '1', chainId: chain_id, verifyingContract: token },
    types: {
      InvoiceCreate: [
        { name: 'request', type: 'bytes32' },
        { name: 'merchant', type: 'address' },
        { name: 'amount', type: 'uint256' },
        { name: 'cart', type: 'bytes32' },
      ],
    },
    primaryType: 'InvoiceCreate',
    message: {
      request: keccak256(toBytes(key)),
      merchant: merchant.address,
      amount: 10_000_000n,
      // The members are in the order of RFC 8785 already.
      cart: keccak256(toBytes(JSON.stringify(cart))),
    },
  })
}

export async function mine({ rpc }: ChainView, blocks = 3): Promise<void> {
  await rpc('anvil_mine', [`0x${blocks.toString(16)}`])
}

/** The texts of all pages, one after the other: each is written as hexadecimal digits. */
export async function pdfWords(bytes: ArrayBuffer): Promise<string> {
  const written = await pdfContent(bytes)
  return [...written.matchAll(/<([0-9A-F]+)> Tj/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1')).join('\n')
}

/** Height of each text above the lower edge of its page, in points. */
export async function pdfHeights(bytes: ArrayBuffer): Promise<number[]> {
  return [...(await pdfContent(bytes)).matchAll(/1 0 0 1 [\d.]+ (-?[\d.]+) Tm/g)].map(([, y]) => Number(y))
}

async function pdfContent(bytes: ArrayBuffer): Promise<string> {
  const document = await PDFDocument.load(bytes)
  const streams = document.context.enumerateIndirectObjects().flatMap(([, one]) => (one instanceof PDFRawStream ? [one] : []))
  return streams.map((one) => Buffer.from(decodePDFRawStream(one).decode()).toString('latin1')).join('\n')
}
