/** What an invoice says by itself: its state, its nonces, its links; judged by viem, by other arithmetic and by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import QRCode from 'qrcode'
import fc from 'fast-check'
import { encodeAbiParameters, getAddress, hashTypedData, isAddress, keccak256, toBytes, type Hex } from 'viem'
import { PDFDocument } from 'pdf-lib'
import { feeOf, invoiceId, invoiceNonces, INVOICE_ID, merchantDigest } from '../../src/pure/invoices/terms.ts'
import { readInvoice } from '../../src/pure/invoices/input.ts'
import { bankFault, creditorReference, epcPayload, plainIban, tokenTransferUri } from '../../src/pure/invoices/links.ts'
import { isConfirmed, LARGE_MINOR, standingOf, type SeenPayment } from '../../src/pure/invoices/standing.ts'
import { nobleCrypto } from '../../src/pure/receipts/crypto.ts'
import { localized } from '../../src/surfaces/pages/messages.ts'
import { invoicePdf } from '../../src/service/invoices/pdf.ts'
import { qrSvg } from '../../src/service/invoices/qr.ts'
import { darkSquares } from '../support/qr.ts'
import { runs, SEED } from '../support/counts.ts'
import { fixedInvoices, invoicesInMemory } from '../support/invoices-memory.ts'

const TERMS = {
  invoice_id: 'inv_0123456789ab',
  merchant: '0x00000000000000000000000000000000a11ce001' as Hex,
  amount_minor: '125500000',
  salt: `0x${'f'.repeat(64)}`,
  cart_hash: `0x${'c'.repeat(64)}`,
  chain_id: 8453,
  token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' as Hex,
  bank: null,
}
const EXPIRES_S = 1_000

const payment = fc.record({
  amount_minor: fc.bigInt({ min: 1n, max: 200n }),
  block_number: fc.integer({ min: 1, max: 50 }),
  log_index: fc.integer({ min: 0, max: 5 }),
  block_time_s: fc.integer({ min: 900, max: 1_100 }),
  confirmed: fc.boolean(),
})
const payments = fc.array(payment, { maxLength: 6 }).map((all) =>
  all.map((one, place): SeenPayment => ({
    ...one,
    transaction: String(place),
    payer: `p${place}`,
    log_index: one.log_index * 10 + place,
  })),
)
const standing = (seen: readonly SeenPayment[], now_s = 500, voided = false) =>
  standingOf({ amount_minor: 100n, expires_s: EXPIRES_S, voided, bank_paid: false, marks: [] }, seen, now_s)

test('amounts decide the state, whatever order the payments come in', () => {
  fc.assert(
    fc.property(payments, fc.integer({ min: 0, max: 2_000 }), fc.boolean(), (seen, now_s, voided) => {
      const found = standing(seen, now_s, voided)
      const sum = (of: readonly SeenPayment[]) => of.reduce((total, one) => total + one.amount_minor, 0n)
      const paid = sum(seen)
      const confirmed = sum(seen.filter((one) => one.confirmed))
      assert.equal(found.paid_minor, paid)
      assert.equal(paid + found.due_minor - found.overpaid_minor, 100n)
      assert.ok(found.due_minor === 0n || found.overpaid_minor === 0n)
      const expected = voided
        ? 'VOID'
        : confirmed >= 100n
          ? 'SETTLED'
          : paid !== confirmed
            ? 'PROCESSING'
            : now_s > EXPIRES_S
              ? 'EXPIRED'
              : paid > 0n
                ? 'PARTIALLY_PAID'
                : 'ISSUED'
      assert.equal(found.status, expected)
      assert.equal(found.settled_by !== null, expected === 'SETTLED')
      assert.equal(found.exceptions.includes('overpaid'), paid > 100n)
      assert.deepEqual(standing(seen.toReversed(), now_s, voided), found)
    }),
    { seed: SEED, numRuns: runs(500, 20_000) },
  )
})

test('a payment that is taken away leaves the invoice as it was before', () => {
  fc.assert(
    fc.property(payments, payment, (seen, more) => {
      const before = standing(seen)
      const other = { ...more, transaction: 'more', payer: 'more' }
      standing([...seen, other])
      assert.deepEqual(standing([...seen, other].filter((one) => one !== other)), before)
    }),
    { seed: SEED, numRuns: runs(100, 5_000) },
  )
})

test('small payments are deep enough in the second block, large ones when final', () => {
  assert.equal(isConfirmed(1n, 10n, 10n, null), false)
  assert.equal(isConfirmed(1n, 10n, 11n, null), true)
  assert.equal(isConfirmed(LARGE_MINOR, 10n, 11n, 9n), true)
  assert.equal(isConfirmed(LARGE_MINOR + 1n, 10n, 99n, 9n), false)
  assert.equal(isConfirmed(LARGE_MINOR + 1n, 10n, 99n, 10n), true)
})

test('the nonces are those that viem finds, one by one, also past the largest salt', () => {
  const types = [{ type: 'bytes32' }, { type: 'bytes32' }, { type: 'address' }, { type: 'uint256' }, { type: 'uint256' }] as const
  const text = (value: string) => keccak256(toBytes(value))
  const expected = [2n ** 256n - 1n, 0n, 1n, 2n].map((salt) =>
    keccak256(encodeAbiParameters(types, [text('ASSAY-INVOICE-1'), text(TERMS.invoice_id), TERMS.merchant, 125_500_000n, salt])),
  )
  assert.deepEqual(invoiceNonces(TERMS), expected)
})

test('what a merchant signs is what EIP-712 says', () => {
  for (const [act, primaryType] of [
    ['issue', 'InvoiceIssue'],
    ['void', 'InvoiceVoid'],
  ] as const) {
    const fields = ['bytes32 invoice', 'address merchant', 'uint256 amount', 'bytes32 cart'].map((field) => field.split(' '))
    const expected = hashTypedData({
      domain: { name: 'assay invoice', version: '1', chainId: TERMS.chain_id, verifyingContract: TERMS.token },
      types: { [primaryType]: fields.map(([type = '', name = '']) => ({ type, name })) },
      primaryType,
      message: { invoice: keccak256(toBytes(TERMS.invoice_id)), merchant: TERMS.merchant, amount: 125_500_000n, cart: TERMS.cart_hash },
    })
    assert.equal(`0x${Buffer.from(merchantDigest(act, TERMS, nobleCrypto)).toString('hex')}`, expected)
  }
})

// attack: guessing ids
test('ids are unguessable names of 26 characters', () => {
  const id = invoiceId(`0x${'ff'.repeat(32)}`)
  assert.equal(id, `inv_${'z'.repeat(26)}`)
  assert.match(id, INVOICE_ID)
  assert.throws(() => invoiceId('0x00'), RangeError)
})

test('references hold by ISO 11649', () => {
  // The example of the European Payments Council.
  assert.equal(creditorReference('inv_539007547034'), 'RF18539007547034')
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const reference = creditorReference(invoiceId(`0x${Buffer.from(bytes).toString('hex')}`))
      assert.match(reference, /^RF[0-9]{2}[0-9A-Z]{21}$/)
      const digits = (reference.slice(4) + reference.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)))
      assert.equal(BigInt(digits) % 97n, 1n)
    }),
    { seed: SEED, numRuns: runs(100, 5_000) },
  )
})

test('bank codes are for euro accounts, and hold no amount', () => {
  const account = {
    account_name: 'Wikimedia Foerdergesellschaft',
    iban: 'DE33 1002 0500 0001 1947 00',
    bic: 'BFSWDE33BER',
    bank_name: null,
    country: 'DE',
    currency: 'EUR',
  }
  const expected = 'BCD\n002\n1\nSCT\nBFSWDE33BER\nWikimedia Foerdergesellschaft\nDE33100205000001194700\n\n\nRF18539007547034'
  assert.equal(epcPayload(account, 'RF18539007547034'), expected)
  assert.equal(epcPayload({ ...account, currency: 'CHF' }, 'RF18539007547034'), null)
  assert.equal(bankFault(account), null)
  assert.equal(bankFault({ ...account, iban: 'DE34 1002 0500 0001 1947 00' })?.field, 'IBAN')
  assert.equal(bankFault({ ...account, account_name: 'a\nb' })?.field, 'NAME')
  assert.equal(bankFault({ ...account, bic: 'no' })?.field, 'BIC')
  assert.equal(bankFault({ ...account, currency: 'euro' })?.field, 'CURRENCY')
})

test('an account is taken as the checks of its parts judge it, and shown as they read it', () => {
  const account = { account_name: 'Example', iban: 'DE89370400440532013000', bic: null, bank_name: null, country: 'DE', currency: 'EUR' }
  // The example of the IBAN registry, with the word before it, in fours, and with full-width digits.
  for (const iban of ['IBAN DE89 3704 0044 0532 0130 00', 'de89-3704-0044-0532-0130-00', 'DE８９370400440532013000']) {
    assert.equal(bankFault({ ...account, iban }), null, iban)
    assert.equal(plainIban(iban), 'DE89370400440532013000')
    assert.equal(epcPayload({ ...account, iban }, 'RF18539007547034')?.split('\n')[6], 'DE89370400440532013000')
  }
  // ISO 9362:2014 lets a party prefix hold digits; XX is no country.
  const bics: [string, boolean][] = [
    ['E097AEXX', true],
    ['BFSWDE33BER', true],
    ['ABCDXX12', false],
    ['BFSW DE33', false],
    ['bfswde33', false],
  ]
  for (const [bic, taken] of bics) assert.equal(bankFault({ ...account, bic }) === null, taken, bic)
  // ISO 4217: ZZZ is not listed, DEM withdrawn, XTS for tests, XAU gold, XXX no currency, 978 the number of EUR.
  for (const currency of ['ZZZ', 'DEM', 'XTS', 'XAU', 'XXX', '978', 'eur']) {
    assert.equal(bankFault({ ...account, currency })?.field, 'CURRENCY', currency)
  }
  for (const currency of ['EUR', 'USD', 'CHW']) assert.equal(bankFault({ ...account, currency }), null, currency)
})

test('links for wallets follow EIP-681', () => {
  const uri = tokenTransferUri('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 8453, TERMS.merchant, 1n)
  assert.equal(uri, `ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=${TERMS.merchant}&uint256=1`)
})

test('a fee under a later policy never passes its cap, and the rebate is a fifth of it', () => {
  const policy = { protocol_fee_bps: 100, protocol_fee_cap_bps: 50, referrer_rebate_bps_of_fee: 2_000 }
  const hand = { fee_minor: 5_000n, cap_minor: 5_000n, rebate_minor: 1_000n, merchant_net_minor: 995_000n }
  assert.deepEqual(feeOf(1_000_000n, true, policy), hand)
  assert.deepEqual(feeOf(1_000_000n, true), { fee_minor: 0n, cap_minor: 5_000n, rebate_minor: 0n, merchant_net_minor: 1_000_000n })
})

test('amounts as numbers and as text are read alike', () => {
  const read = (amount: number | string) => {
    const found = readInvoice({ amount, merchant: TERMS.merchant }, { ceiling_minor: 10n ** 15n, token: TERMS.token })
    return found.ok ? found.content.amount_minor : found.fault
  }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (minor) => {
      const written = (BigInt(minor) / 1_000_000n).toString() + '.' + (BigInt(minor) % 1_000_000n).toString().padStart(6, '0')
      assert.equal(read(written), BigInt(minor))
      assert.equal(read(Number(written)), BigInt(minor))
    }),
    { seed: SEED, numRuns: runs(200, 20_000) },
  )
})

test('a joiner passes only where it shapes what is seen', () => {
  const taken = (memo: string) =>
    readInvoice({ amount: 1, merchant: TERMS.merchant, memo }, { ceiling_minor: 10n ** 15n, token: TERMS.token }).ok
  const pieces = ['a', 'é', '漢', ' ', '1', '.', 'م', 'ی', 'क', '्', '👩', '🏽', '\u200c', '\u200d']
  const letters = new Set(['م', 'ی', 'क', '्'])
  const fits = (before = '', joiner: string, after = '') =>
    (letters.has(before) && letters.has(after)) || (joiner === '\u200d' && ['👩', '🏽'].includes(before) && after === '👩')
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }), (all) => {
      // Spaces at the ends are cut off before anything is judged.
      const text = ['a', ...all, 'a']
      const expected = text.every((one, at) => !/[\u200c\u200d]/.test(one) || fits(text[at - 1], one, text[at + 1]))
      assert.equal(taken(text.join('')), expected)
    }),
    { seed: SEED, numRuns: runs(500, 20_000) },
  )
})

test('an address that is mistyped in one place is refused wherever its capitals can tell', () => {
  const asked = (merchant: string) => readInvoice({ amount: 1, merchant }, { ceiling_minor: 10n ** 15n, token: TERMS.token })
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.nat(39), fc.nat(14), (bytes, place, shift) => {
      const written = getAddress(`0x${Buffer.from(bytes).toString('hex')}`)
      const digit = '0123456789abcdef'.indexOf((written[place + 2] ?? '').toLowerCase())
      const other = '0123456789abcdef'.charAt((digit + 1 + shift) % 16)
      const wrong = written.slice(0, place + 2) + other + written.slice(place + 3)
      const mixed = /[a-f]/.test(wrong.slice(2)) && /[A-F]/.test(wrong.slice(2))
      const end = asked(wrong)
      const broken = mixed && !isAddress(wrong)
      assert.equal(end.ok ? 'ok' : end.fault, broken ? 'merchant_checksum' : 'ok')
      assert.equal(asked(written).ok, true)
    }),
    { seed: SEED, numRuns: runs(100, 5_000) },
  )
})

test('a merchant that has signed too many open invoices is refused', async () => {
  const store = { ...invoicesInMemory(), keep: () => Promise.resolve({ kind: 'merchant_full' as const }) }
  const end = await fixedInvoices({ now_ms: () => 0 }, store).create({ amount: 1, merchant: TERMS.merchant })
  assert.ok(end.kind === 'refused')
  assert.equal(end.problem.code, 'INVOICE_LIMIT')
})

test('the document is one page that any reader opens, the same for the same record, whatever the texts hold', async () => {
  const desk = fixedInvoices({ now_ms: () => Date.UTC(2026, 10, 21, 12) })
  const memo = `Spółka <b>${'long'.repeat(100)}</b>\nline`
  const end = await desk.create({ amount: '1.5', merchant: TERMS.merchant, memo, client_name: 'Ünal €' })
  assert.ok(end.kind === 'made')
  const [one, two] = [
    await invoicePdf(end.view.record, null, localized('en', undefined)),
    await invoicePdf(end.view.record, null, localized('en', undefined)),
  ]
  assert.deepEqual(one, two)
  const read = await PDFDocument.load(one, { updateMetadata: false })
  assert.equal(read.getPageCount(), 1)
  assert.match(read.getTitle() ?? '', /^Payment request inv_/)
})

test('a code is one drawing without text of strangers, with the squares of its text', () => {
  const svg = qrSvg('ethereum:<script>')
  assert.match(
    svg,
    /^<svg [^<]+><title>Payment code<\/title><path [^<]+\/><path stroke="#000" d="(?:M\d+ \d+\.5h\d+(?:m\d+ 0h\d+)*)+"\/><\/svg>$/,
  )
  const { modules } = QRCode.create('ethereum:<script>', { errorCorrectionLevel: 'M' })
  assert.deepEqual(
    darkSquares(svg),
    [...modules.data.keys()].filter((at) => modules.data[at] === 1),
  )
})
