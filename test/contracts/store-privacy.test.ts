/** Texts of callers in the store: sealed when they are written, sealed later where an earlier release wrote them, and erased with their invoice. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, suite, test } from 'node:test'
import type { NewInvoice } from '../../src/ports/invoices.ts'
import type { Store } from '../../src/ports/store.ts'
import { copiedTables } from '../../src/adapters/store/copy-store.ts'
import { openStore } from '../../src/adapters/store/open.ts'
import { STORED_TABLES } from '../../src/adapters/store/stored-columns.ts'
import { readTerms, termsText, type InvoiceTerms } from '../../src/pure/invoices/terms.ts'
import { privacyJobs } from '../../src/service/jobs/privacy.ts'
import { INVOICE_RULES } from '../../src/service/limits.ts'
import { openSealed, STORE_DRIVERS, type FreshStore, type StoreDriver } from '../support/store-drivers.ts'
import { WIDE_BOUNDS } from '../support/webhooks.ts'

const DAY_MS = 86_400_000
const NOW_S = 1_800_000_000
const NOW_MS = NOW_S * 1_000
const address = () => `0x${randomBytes(20).toString('hex')}`
const hash = () => `0x${randomBytes(32).toString('hex')}`
const MARK = 'Käthe Canary'
const IBAN = 'DE89370400440532013000'

test('each column of each table has one entry in the list of what is stored', () => {
  const stored = copiedTables().flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`))
  const listed = Object.entries(STORED_TABLES).flatMap(([name, { columns }]) =>
    columns.flatMap(({ names }) => names.map((column) => `${name}.${column}`)),
  )
  const own = new Set(['migration.number', 'migration.name'])
  assert.deepEqual(
    listed.filter((one) => !own.has(one)).toSorted(),
    stored.toSorted(),
    'give each column of a migration an entry in src/adapters/store/stored-columns.ts, then run node scripts/privacy-page.ts',
  )
})

test('the page about privacy is made from the list', async () => {
  const page = await readFile('docs/operating/privacy.md', 'utf8')
  process.argv.push('--check')
  try {
    await import('../../scripts/privacy-page.ts')
  } finally {
    process.argv.pop()
  }
  assert.equal(process.exitCode ?? 0, 0, 'run node scripts/privacy-page.ts')
  assert.ok(page.includes('`invoice`'))
})

function termsOf(invoice_id: string, merchant: string): InvoiceTerms {
  return {
    v: 1,
    invoice_id,
    merchant,
    client_name: MARK,
    memo: `${MARK} memo`,
    referrer: null,
    order_number: `${MARK} order`,
    return_url: 'https://shop.example/canary',
    bank: { iban: IBAN, name: MARK, bic: null, currency: 'EUR', amount: '45.00', reference: 'RF18539007547034' },
    amount_minor: '5000',
    chain_id: 84_532,
    token: address(),
    product: null,
    created_s: NOW_S,
    expires_s: NOW_S + 100,
    salt: hash(),
    cart_hash: hash(),
    fee_policy_version: '1',
    fee_policy_hash: hash(),
  }
}

function invoiceOf(change: Partial<NewInvoice> = {}): NewInvoice {
  const invoice_id = `inv_${randomBytes(13).toString('hex')}`
  const merchant = address()
  return {
    invoice_id,
    merchant,
    amount_minor: 5_000n,
    terms: termsText(termsOf(invoice_id, merchant)),
    created_ms: NOW_MS,
    expires_s: NOW_S + 100,
    watch_until_s: NOW_S + 200,
    nonces: [hash()],
    deposit_address: address(),
    content_hash: hash(),
    request_key: randomBytes(32).toString('hex'),
    network: null,
    issue_signature: '0x01',
    bank_reference: 'RF18539007547034',
    ...change,
  }
}

const BOUNDS = { network_unsigned: 100, all_unsigned: 100, calls_unsigned: 100, merchant_signed: 100 }
const BANK_PAYMENT = {
  amount: '45.00',
  currency: 'EUR',
  iban: IBAN,
  reference: 'RF18539007547034',
  booked_on: '2026-11-20',
  statement_id: `${MARK} statement`,
  entry_reference: `${MARK} entry`,
  document_sha256: hash(),
  confirmed_by: 'merchant',
  confirmed_at: '2026-11-21T00:00:00Z',
}
const WORDS = [MARK, IBAN, 'shop.example', 'RF18539007547034', 'hooks.example', 'canary']

const TABLES = ['invoice', 'invoice_bank_report', 'webhook_subscription', 'webhook_delivery']

async function rowsWith({ sql }: FreshStore, words: readonly string[]): Promise<string[]> {
  const rows = await Promise.all(TABLES.map(async (table) => [table, JSON.stringify(await sql(`select * from ${table}`))] as const))
  return rows.flatMap(([table, text]) => words.filter((word) => text.includes(word)).map((word) => `${table}: ${word}`))
}

const reportOf = (invoice_id: string) => ({
  statement_id: `${MARK} statement`,
  entry_reference: `${MARK} entry`,
  invoice_id,
  booked_on: '2026-11-20',
  direction: 'CRDT' as const,
  returned: false,
  currency: 'EUR',
  amount_minor: 4_500n,
  charges_minor: 0n,
  instructed_minor: null,
  verdict: 'SETTLED' as const,
  reported_ms: NOW_MS,
})

async function subscribe(store: Store, owner: string): Promise<string> {
  const subscription_id = `whs_${randomBytes(8).toString('hex')}`
  const subscription = {
    subscription_id,
    owner,
    provider: 'p',
    network: 'n',
    url: 'https://hooks.example/canary?token=1',
    events: ['invoice.paid', 'invoice.voided'] as const,
    secret: 'sealed elsewhere',
    created_ms: NOW_MS,
    issued_s: 0,
    challenge_until_ms: NOW_MS + DAY_MS,
  }
  assert.equal((await store.webhooks.subscribe(subscription, null, WIDE_BOUNDS)).kind, 'created')
  await store.webhooks.end_challenge({ subscription_id, rotation: 0, state: 'verified', fault: null })
  return subscription_id
}

/** An invoice with a bank transfer, a bank report, and the events of merchant and creator. */
async function paidInvoice(store: Store, change: Partial<NewInvoice> = {}) {
  const invoice = invoiceOf(change)
  assert.equal((await store.invoices.keep(invoice, BOUNDS)).kind, 'created')
  const subscriptions = [await subscribe(store, invoice.merchant), await subscribe(store, invoice.invoice_id)] as const
  const { invoice_id, merchant } = invoice
  const closing = { invoice_id, merchant, bank_entry: hash(), bank_payment: JSON.stringify(BANK_PAYMENT) }
  assert.equal(await store.invoices.close_by_bank(closing, NOW_MS), 'closed')
  await store.invoices.report_bank([reportOf(invoice_id)], NOW_MS)
  return { invoice, subscriptions }
}

for (const open of STORE_DRIVERS) {
  suite(`privacy: ${open.name}`, () => {
    let driver: StoreDriver
    before(async () => {
      driver = await open()
    })
    after(() => driver.stop())

    test('texts are written sealed, and read as they were', async () => {
      const fresh = await driver.fresh()
      const store = await openSealed(fresh.target)
      const { invoice, subscriptions } = await paidInvoice(store)
      const { invoice_id, merchant, terms } = invoice
      assert.deepEqual(await rowsWith(fresh, WORDS), [])
      const stored = await store.invoices.find(invoice_id)
      assert.deepEqual([stored?.terms, stored?.bank_payment], [terms, JSON.stringify(BANK_PAYMENT)])
      const [found] = await store.invoices.signed_by_reference(merchant, 'RF18539007547034')
      assert.equal(found?.terms, terms)
      assert.deepEqual(await store.invoices.bank_reports(invoice_id), [reportOf(invoice_id)])
      const [delivery] = await store.webhooks.due(subscriptions[0], NOW_MS, 10)
      assert.match(delivery?.body ?? '', /"order_number":"Käthe Canary order".*"iban":"DE89/)
      assert.equal((await store.webhooks.subscription(subscriptions[0]))?.url, 'https://hooks.example/canary?token=1')
      await store.close()
      const other = await openStore(fresh.target)
      await assert.rejects(other.invoices.find(invoice_id), { code: 'STORE_REFUSED' })
      await assert.rejects(other.invoices.keep(invoiceOf(), BOUNDS), { code: 'STORE_REFUSED' })
      await other.close()
    })

    test('a text that was copied to another row does not open', async () => {
      const fresh = await driver.fresh()
      const store = await openSealed(fresh.target)
      const [one, two] = [invoiceOf(), invoiceOf()]
      for (const invoice of [one, two]) await store.invoices.keep(invoice, BOUNDS)
      await fresh.sql(`update invoice set terms = (select terms from invoice where invoice_id = '${one.invoice_id}')`)
      await assert.rejects(store.invoices.find(two.invoice_id), { code: 'STORE_UNAVAILABLE' })
      await store.close()
    })

    test('rows of an earlier release are readable, and sealed in steps; after a vacuum nothing of them is left in the file', async () => {
      const old = await driver.fresh()
      await old.createSchema(31)
      const rows = Array.from({ length: 7 }, () => invoiceOf())
      for (const { invoice_id, merchant, terms, content_hash, request_key } of rows) {
        await old.sql(
          `insert into invoice (invoice_id, merchant, amount_minor, terms, created_ms, expires_s, watch_until_s, content_hash, request_key, updated_ms,
             issue_signature, bank_reference, bank_paid_ms, bank_payment)
           values ('${invoice_id}', '${merchant}', 5000, '${terms}', ${NOW_MS}, ${NOW_S + 100}, ${NOW_S + 200}, '${content_hash}', '${request_key}',
             ${NOW_MS}, '0x01', 'RF18539007547034', ${NOW_MS}, '${JSON.stringify(BANK_PAYMENT)}')`,
        )
      }
      const [first] = rows
      assert.ok(first !== undefined)
      const { invoice_id, merchant } = first
      await old.sql(
        `insert into invoice_bank_report values ('${MARK} statement', '${MARK} entry', '${invoice_id}', '2026-11-20', 'CRDT', 0, 'EUR', 4500, 0, null,
           'SETTLED', ${NOW_MS})`,
      )
      await old.sql(`insert into webhook_subscription (subscription_id, owner, network, url, events, secret, created_ms)
        values ('whs_old', '${merchant}', 'n', 'https://hooks.example/canary', 'invoice.paid', 's', ${NOW_MS})`)
      const body = JSON.stringify({ type: 'invoice.paid', timestamp: '', data: { invoice_id, order_number: MARK } })
      await old.sql(`insert into webhook_delivery (subscription_id, event_id, type, body, created_ms, state, attempts, since_ms, due_ms)
        values ('whs_old', 'evt_old', 'invoice.paid', '${body}', ${NOW_MS}, 'pending', 0, ${NOW_MS}, ${NOW_MS})`)
      const store = await openSealed(old.target)
      const readEverything = async () => ({
        invoices: await Promise.all(rows.map(async (row) => store.invoices.find(row.invoice_id))),
        by_reference: await store.invoices.signed_by_reference(merchant, 'RF18539007547034'),
        reports: await store.invoices.bank_reports(invoice_id),
        due: await store.webhooks.due('whs_old', NOW_MS, 10),
        url: (await store.webhooks.subscription('whs_old'))?.url,
        repeated: (await store.invoices.keep(first, BOUNDS)).kind,
      })
      const unsealed = await readEverything()
      assert.deepEqual([unsealed.invoices[0]?.terms, unsealed.by_reference.length, unsealed.repeated], [first.terms, 1, 'same'])
      assert.ok((await rowsWith(old, WORDS)).length > 0)
      const steps: number[] = []
      do steps.push(await store.privacy.seal_stored(3))
      while ((steps.at(-1) ?? 0) > 0)
      assert.deepEqual(steps, [6, 3, 1, 0])
      assert.deepEqual(await rowsWith(old, WORDS), [])
      assert.deepEqual(await readEverything(), unsealed)
      await store.close()
      if (driver.kind === 'sqlite') {
        // Pages that were divided before have copies of rows, which no update reaches.
        await old.sql('vacuum')
        const file = await readFile(old.target)
        assert.deepEqual(
          WORDS.filter((word) => file.includes(word)),
          [],
        )
      }
    })

    test('an entry that was reported to an earlier release counts once', async () => {
      const old = await driver.fresh()
      await old.createSchema(31)
      const { invoice_id, terms, merchant } = invoiceOf()
      await old.sql(
        `insert into invoice (invoice_id, merchant, amount_minor, terms, created_ms, expires_s, watch_until_s, content_hash, updated_ms)
         values ('${invoice_id}', '${merchant}', 5000, '${terms}', ${NOW_MS}, ${NOW_S}, ${NOW_S}, 'c', ${NOW_MS})`,
      )
      await old.sql(
        `insert into invoice_bank_report values ('${MARK} statement', '${MARK} entry', '${invoice_id}', '2026-11-20', 'CRDT', 0, 'EUR', 4500, 0, null,
           'SETTLED', ${NOW_MS})`,
      )
      const store = await openSealed(old.target)
      assert.equal(await store.invoices.report_bank([reportOf(invoice_id)], NOW_MS), 0)
      assert.deepEqual(await store.invoices.bank_reports(invoice_id), [reportOf(invoice_id)])
      await store.close()
    })

    test('an erased invoice keeps amounts, hashes, signatures and payments, and loses everything else', async () => {
      const fresh = await driver.fresh()
      const store = await openSealed(fresh.target)
      const { invoice, subscriptions } = await paidInvoice(store)
      const { invoice_id, merchant } = invoice
      const kept = await store.invoices.find(invoice_id)
      const erased = await store.privacy.erase_invoice(invoice_id, NOW_MS + 5)
      assert.deepEqual(erased, { kind: 'erased', erased_ms: NOW_MS + 5, deliveries: 1, subscriptions: 1 })
      const now = await store.invoices.find(invoice_id)
      assert.deepEqual(
        { ...now, terms: '', bank_payment: '' },
        { ...kept, terms: '', bank_payment: '', erased_ms: NOW_MS + 5, updated_ms: NOW_MS + 5 },
      )
      const { client_name, memo, order_number, return_url, bank, ...ledger } = readTerms(now?.terms ?? '')
      assert.deepEqual([client_name, memo, order_number, return_url, bank], [null, null, null, null, null])
      assert.equal(ledger.cart_hash, readTerms(invoice.terms).cart_hash)
      assert.deepEqual(JSON.parse(now?.bank_payment ?? ''), {
        ...BANK_PAYMENT,
        iban: null,
        reference: null,
        statement_id: null,
        entry_reference: null,
      })
      const [report] = await store.invoices.bank_reports(invoice_id)
      assert.deepEqual([report?.statement_id, report?.entry_reference, report?.amount_minor], ['erased', 'erased', 4_500n])
      assert.deepEqual(await store.webhooks.due(subscriptions[0], NOW_MS + 5, 10), [])
      assert.equal(await store.webhooks.subscription(subscriptions[1]), null)
      assert.ok((await store.webhooks.subscription(subscriptions[0])) !== null, 'the merchant is subscribed to other invoices')
      assert.deepEqual(await store.invoices.signed_by_reference(merchant, 'RF18539007547034'), [])
      // The same request again does not bring the details back.
      assert.equal((await store.invoices.keep(invoice, BOUNDS)).kind, 'conflict')
      assert.deepEqual(await store.privacy.erase_invoice(invoice_id, NOW_MS + 9), {
        ...erased,
        kind: 'already',
        deliveries: 0,
        subscriptions: 0,
      })
      assert.deepEqual(await store.privacy.erase_invoice('inv_000000000001', NOW_MS), { kind: 'unknown' })
      await store.close()
    })

    test('the job erases what was due and last changed before the days of retention, and nothing else', async () => {
      const fresh = await driver.fresh()
      const store = await openSealed(fresh.target)
      const ended = await paidInvoice(store)
      const unpaid = invoiceOf()
      const changed = invoiceOf()
      const not_due = invoiceOf({ expires_s: NOW_S + 90 * 86_400 })
      for (const one of [unpaid, changed, not_due]) await store.invoices.keep(one, BOUNDS)
      await store.invoices.add_mark(changed.invoice_id, 'ambiguous', NOW_MS + 10 * DAY_MS)
      const job = privacyJobs(store.privacy, INVOICE_RULES.retention_days).find(({ name }) => name === 'erase-invoices')
      const erased = async () => {
        const all = [ended.invoice, unpaid, changed, not_due]
        return Promise.all(all.map(async ({ invoice_id }) => (await store.invoices.find(invoice_id))?.erased_ms !== null))
      }
      await job?.run(NOW_MS + 400 * DAY_MS)
      assert.deepEqual(await erased(), [false, false, false, false])
      await job?.run(NOW_MS + 401 * DAY_MS)
      assert.deepEqual(await erased(), [true, true, false, false])
      await job?.run(NOW_MS + 411 * DAY_MS)
      assert.deepEqual(await erased(), [true, true, true, false])
      await store.close()
    })
  })
}
