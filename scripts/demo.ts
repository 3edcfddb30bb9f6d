import { usdcDecimal } from '../src/pure/payments/usdc.ts'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { paint, say } from '../src/cli/terminal.ts'
import { fromHex } from '../src/pure/receipts/crypto.ts'
import { verifyReceipt } from '../src/pure/receipts/verify.ts'
import { readSettings } from '../src/service/read-settings.ts'
import { start } from '../src/assembly/start.ts'
import { begin, fact, holds, short } from './demo/show.ts'
import { signPayment, type PaymentRequired, type SignedPayment } from './demo/wallet.ts'

/**
 * `npm run demo`: a tour of the service in under half a minute. It starts a sandbox with its own chain, calls it over HTTP like any
 * client, and removes everything afterwards. All texts are read from the answers; a failed check stops it.
 */

const IBAN = { iban: 'GB82 WEST 1234 5698 7654 32' }
const OTHER = { iban: 'DE89 3704 0044 0532 0130 00' }

/** As in live mode: a sandbox grants far more, and the tour shows what follows them. */
const FREE_CALLS = 3

type Members = Record<string, unknown>
interface Reply {
  status: number
  headers: Headers
  text: string
  body: Members
}

const began = performance.now()
const data_dir = await mkdtemp(join(tmpdir(), 'assay-demo-'))
try {
  await tour()
} finally {
  await rm(data_dir, { recursive: true, force: true })
}

async function tour(): Promise<void> {
  const read = readSettings({ ASSAY_PORT: '0', ASSAY_DATA_DIR: data_dir, ASSAY_LOG_LEVEL: 'silent', ASSAY_FREE_DAILY: String(FREE_CALLS) })
  if (!read.ok) throw new Error(read.message)
  say(`${paint('strong', 'assay')}  deterministic checks that software agents call and pay for per call`)
  say(paint('unverifiable', '◐ SANDBOX  its own chain, worthless tokens, throw-away keys: no real money moves'))
  const running = await start(read.settings)
  try {
    await freeCalls(running.url)
    const required = await challenge(running.url)
    const paid = await pay(running.url, required)
    await again(running.url, paid)
    await verify(running.url, paid)
    await overMcp(running.url)
  } finally {
    await running.stop()
  }
  say(`\n${paint('strong', 'That was all of it')}, in ${((performance.now() - began) / 1000).toFixed(1)} s. Next:`)
  say('   npm start                    serves on http://127.0.0.1:8402, with a page to try each tool')
  say('   npx node src/cli.ts tools    lists the tools; "npx node src/cli.ts help" the commands')
  say('   docs/going-live.md           what it takes to be paid in earnest')
}

async function freeCalls(url: string): Promise<void> {
  begin(
    'Free calls',
    'Three a day for each client in live mode, without account, key or wallet. A wrong identifier is a successful answer with findings, not an error.',
  )
  const wrong = { iban: IBAN.iban.replace('WEST', 'WETS') }
  for (const input of [IBAN, OTHER, wrong]) {
    const { body } = await call(url, 'iban-check', input)
    const result = body['result'] as Members
    const left = (body['allowance'] as Members)['remaining']
    fact(input.iban, `${result['valid'] === true ? 'valid' : 'invalid'}  ${String(result['reason'])}  (${String(left)} free calls left)`)
  }
}

async function challenge(url: string): Promise<PaymentRequired> {
  begin(
    '402 Payment Required',
    'The fourth call is answered with terms: a header for x402 version 2, a body for version 1. A client needs no documentation of assay to pay them.',
  )
  const { status, headers } = await call(url, 'iban-check', IBAN)
  const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as PaymentRequired
  const terms = required.accepts[0]
  if (terms === undefined) throw new Error('the terms offer nothing')
  holds(status === 402, 'the service answers 402')
  fact('price', `${usdcDecimal(BigInt(terms.amount))} USDC`)
  fact('to', terms.payTo)
  fact('network', `${terms.network}, token ${terms.asset}`)
  return required
}

interface Paid {
  payment: SignedPayment
  reply: Reply
}

async function pay(url: string, required: PaymentRequired): Promise<Paid> {
  begin(
    'A paid call',
    'The demo wallet signs a transfer of exactly that amount (EIP-3009) and sends the same request again. The service simulates, runs, settles on chain, and only then answers.',
  )
  const key = fromHex((await readFile(join(data_dir, 'sandbox', 'payer.key'), 'utf8')).trim())
  if (key === null) throw new Error('the sandbox has no payer key')
  const payment = signPayment(key, required, Math.floor(Date.now() / 1000))
  const sent = performance.now()
  const reply = await call(url, 'iban-check', IBAN, { 'payment-signature': payment.header })
  const settlement = reply.body['settlement'] as Members
  fact('payer', payment.authorization.from)
  holds(reply.status === 200, `answered after ${Math.round(performance.now() - sent)} ms`)
  fact('transaction', String(settlement['transaction']))
  fact(
    'amount',
    `${usdcDecimal(BigInt(String(settlement['amount_minor'])))} USDC, straight to the recipient; the service held it at no time`,
  )
  return { payment, reply }
}

async function again(url: string, { payment, reply }: Paid): Promise<void> {
  begin(
    'Exactly once',
    'Answers get lost. The same payment with the same request brings the stored answer; with another request it is refused.',
  )
  const same = await call(url, 'iban-check', IBAN, { 'payment-signature': payment.header })
  holds(same.status === 200 && same.text === reply.text, 'sent again: the same answer, byte for byte, and no second charge')
  const other = await call(url, 'iban-check', OTHER, { 'payment-signature': payment.header })
  holds(other.status === 409, `sent with another input: ${String(other.body['code'])}`)
  const { authorization } = payment
  const status = (await (await fetch(`${url}/v1/payments/${authorization.from}/${authorization.nonce}`)).json()) as Members
  fact('status', `${String(status['state'])} in block ${String(status['block_number'])}`)
}

async function verify(url: string, { payment, reply }: Paid): Promise<void> {
  begin(
    'The receipt',
    'Every answer is signed. This check runs here, without the service: hash the receipt, recover the signer, compare with the published key.',
  )
  const receipt = reply.body['receipt'] as Members
  const published = (await (await fetch(`${url}/.well-known/xdr-1.json`)).json()) as Members
  const verdict = verifyReceipt(receipt)
  holds(verdict.valid && receipt['signer'] === published['signing_address'], `signed by ${String(receipt['signer'])}, as published`)
  holds(receipt['nonce'] === payment.authorization.nonce, 'its nonce is that of the payment, so receipt and transfer belong together')
  fact('digest', short(verdict.digest ?? ''))
}

async function overMcp(url: string): Promise<void> {
  begin(
    'The same over MCP',
    'One registry, one gate: agents call the tool by JSON-RPC, get the same terms, and put the payment into _meta.',
  )
  const unpaid = await rpc(url, {})
  const content = (unpaid['content'] as { text: string }[])[0]?.text ?? '{}'
  holds(unpaid['isError'] === true, 'unpaid: a tool error with the terms in it')
  const key = fromHex((await readFile(join(data_dir, 'sandbox', 'payer.key'), 'utf8')).trim())
  if (key === null) throw new Error('the sandbox has no payer key')
  const { payment } = signPayment(key, JSON.parse(content) as PaymentRequired, Math.floor(Date.now() / 1000))
  const paid = await rpc(url, { 'x402/payment': payment })
  const response = (paid['_meta'] as Members)['x402/payment-response'] as Members
  holds(response['success'] === true, `paid: settled in ${short(String(response['transaction']))}`)
}

async function call(url: string, tool: string, input: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(`${url}/v1/tools/${tool}/call`, { method: 'POST', headers, body: JSON.stringify({ input }) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Members }
}

async function rpc(url: string, meta: Members): Promise<Members> {
  const params = { name: 'iban-check', arguments: IBAN, _meta: meta }
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  return ((await response.json()) as { result: Members }).result
}
