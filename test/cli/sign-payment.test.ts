/** `assay sign invoice-payment`: money is signed only as the options allow, for an invoice that its issuer shows. */
import assert from 'node:assert/strict'
import { chmod } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { recoverTypedDataAddress, type TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { issue, newMerchant, payByX402, type InvoiceShown } from '../support/invoicing.ts'
import { startWorld, type World } from '../support/paying-world.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

const KEY = `0x${'0'.repeat(63)}7` as const
const MERCHANT = newMerchant().address

/** Member `sign` of the refusal that asks for a payment. */
interface Asked {
  typed_data: TypedDataDefinition & { domain: Record<string, unknown>; message: Record<string, string> }
  submit: { url: string; body: { authorization: Record<string, string> } }
}

let world: World
let desk: Desk
let key_file: string
let invoice: InvoiceShown
before(async () => {
  world = await startWorld()
  desk = await openDesk()
  key_file = await desk.file('key', KEY)
  await chmod(key_file, 0o600)
  invoice = await issue(world, '12.50', MERCHANT)
})
after(async () => {
  await desk.clear()
  await world.stop()
})

async function asked(): Promise<{ sign: Asked }> {
  const response = await fetch(`${world.url}/api/invoice/${invoice.invoice_id}/pay`, { headers: { accept: 'application/json' } })
  return (await response.json()) as { sign: Asked }
}

const ALLOWED = () => ['--to', MERCHANT, '--max-usdc', '12.5', '--url', world.url]

const sign = (document: unknown, options: readonly string[] = ALLOWED()) =>
  desk.run(['sign', 'invoice-payment', '-', '--key-file', key_file, ...options], { input: JSON.stringify(document) })

/** The document with another value of the transfer, in what is signed and in what is sent. */
async function changed(name: string, value: string) {
  const document = await asked()
  document.sign.typed_data.message[name] = value
  document.sign.submit.body.authorization[name] = value
  return document
}

test('a payment within the limits is signed, and the service takes it', async () => {
  const { code, stdout, stderr } = await sign(await asked())
  assert.equal(code, 0, stderr)
  const { signature, submit } = parsed(stdout) as { signature: `0x${string}`; submit: { url: string; body: object } }
  const { typed_data } = (await asked()).sign
  const signer = privateKeyToAccount(KEY).address
  const message = { ...typed_data.message, ...(submit.body as { authorization: object }).authorization }
  assert.equal(await recoverTypedDataAddress({ ...typed_data, message, signature }), signer)
  assert.equal(submit.url, `${world.url}/api/invoice/${invoice.invoice_id}/pay`)
})

test('another recipient, a higher amount, a long validity, another token, a foreign nonce and another address are refused', async () => {
  const hour = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds)
  const other = `0x${'d'.repeat(40)}`
  const refused: [string, unknown, RegExp][] = [
    ['recipient', await changed('to', other), /goes to 0xd{40}; --to allows 0x/],
    ['amount', await changed('value', '1000000000000'), /of 1000000\.00 USDC; --max-usdc allows 12\.50 USDC/],
    ['no amount', await changed('value', '-1'), /of -1; --max-usdc/],
    ['validity', await changed('validBefore', hour(7_300)), /would be valid for 7[23]\d\d s \(validBefore\); at most 3600 s/],
    ['expired', await changed('validBefore', hour(-1)), /has expired/],
    ['nonce', await changed('nonce', `0x${'5'.repeat(64)}`), /nonce is not the next one of the invoice/],
  ]
  const token = await asked()
  Object.assign(token.sign.typed_data.domain, { verifyingContract: other })
  const chain = await asked()
  Object.assign(chain.sign.typed_data.domain, { chainId: 1 })
  const url = await asked()
  url.sign.submit.url = url.sign.submit.url.replace(world.url, 'https://evil.test')
  const path = await asked()
  path.sign.submit.url = `${world.url}/v1/webhooks`
  const body = await asked()
  body.sign.submit.body.authorization['to'] = other
  const all: typeof refused = [
    ...refused,
    ['token', token, /not that of USDC/],
    ['chain', chain, /not that of USDC/],
    ['other service', url, /would be sent to https:\/\/evil\.test\/api.*expected http/],
    ['other path', path, /would be sent to/],
    ['other body', body, /has another transfer than the one to sign/],
  ]
  for (const [name, document, words] of all) {
    const { code, stdout, stderr } = await sign(document)
    assert.deepEqual([code, stdout], [1, ''], `${name}: ${stderr}`)
    assert.match(stderr, words, name)
    assert.match(stderr, /Nothing was signed\./, name)
  }
})

test('without its limits, or with unreadable ones, no payment is signed', async () => {
  const document = await asked()
  const refused: [readonly string[], RegExp][] = [
    [[], /moves money\. Say what you allow: --to 0x… \(the merchant\), --max-usdc 49\.00 and --url/],
    [['--to', MERCHANT, '--max-usdc', '12.5'], /moves money/],
    [['--to', 'shop', '--max-usdc', '12.5', '--url', world.url], /--to is the address/],
    [['--to', MERCHANT, '--max-usdc', '12,5', '--url', world.url], /--max-usdc is an amount/],
  ]
  for (const [options, words] of refused) {
    const { code, stdout, stderr } = await sign(document, options)
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr, words)
  }
})

test('an invoice of another merchant, and one that was paid meanwhile, are refused', async () => {
  const elsewhere = await issue(world, '12.50', newMerchant().address)
  const document = await asked()
  document.sign.submit.url = `${world.url}/api/invoice/${elsewhere.invoice_id}/pay`
  assert.match((await sign(document)).stderr, /is of another merchant\. Nothing was signed/)
  const first = await asked()
  const payer = await world.payer(20_000_000n)
  await payByX402(world, payer, invoice)
  assert.match((await sign(first)).stderr, /nonce is not the next one/)
})
