import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COUNTRIES } from '../../src/pure/checks/countries.ts'
import { readVendorDomain } from '../../src/pure/checks/domains.ts'
import { readPostalAddress } from '../../src/pure/checks/postal-address.ts'
import {
  disposableDomain,
  freeMailDomain,
  type CounterpartyFactor,
  counterpartyRisk,
  domainAge,
  type FoundFactor,
  inspectCounterparty,
  wholeUsd,
} from '../../src/pure/rulebooks/counterparty.ts'
import { SourceDown } from '../../src/service/catalogue/define.ts'
import type { Registration } from '../../src/ports/registers.ts'
import tool from '../../src/tools/packs/pre-disbursement-guard.ts'
import { fixedSources } from '../support/sources.ts'

/** The points as they were ruled, written apart from the table. */
const POINTS: Record<CounterpartyFactor, number> = {
  iban_country_sanctioned: 100,
  iban_invalid: 60,
  disposable_email_domain: 45,
  domain_age_under_30_days: 40,
  lei_invalid: 25,
  iban_country_mismatch: 20,
  vat_invalid: 20,
  free_mail_domain: 15,
  company_number_malformed: 15,
  vat_country_mismatch: 10,
  domain_age_unknown: 10,
  address_country_mismatch: 10,
  po_box: 5,
  country_sanctioned: 100,
  country_elevated: 20,
  place_needs_review: 0,
}
const FACTORS = Object.keys(POINTS) as CounterpartyFactor[]
const AMOUNTS = [null, 9_999n, 10_000n, 99_999n, 100_000n, 10n ** 30n]

test('all sets of factors and amounts score what they add up to, and nothing further lowers a score', () => {
  const scores = AMOUNTS.map((amount) => {
    const steps: number[] = []
    for (let bits = 0; bits < 1 << FACTORS.length; bits++) {
      const found: FoundFactor[] = FACTORS.filter((_, at) => (bits & (1 << at)) !== 0).map((factor) => ({ factor, reason: 'x' }))
      const { score, decision, level, fired } = counterpartyRisk(found, amount)
      const grave = found.some(({ factor }) => POINTS[factor] >= 40)
      const weight = !grave || amount === null || amount < 10_000n ? 0 : amount < 100_000n ? 10 : 15
      assert.equal(
        score,
        Math.min(
          100,
          found.reduce((sum, { factor }) => sum + POINTS[factor], weight),
        ),
      )
      assert.equal(fired.length, found.length + (weight > 0 ? 1 : 0))
      const lowest = found.some(({ factor }) => factor === 'place_needs_review') ? 'REVIEW' : 'CLEAR'
      assert.equal(decision, score < 20 ? lowest : score < 50 ? 'REVIEW' : 'BLOCK')
      assert.equal(level, score < 20 ? 'low' : score < 45 ? 'elevated' : score < 70 ? 'high' : 'critical')
      steps.push(score)
    }
    return steps
  })
  for (const [step, all] of scores.entries()) {
    for (const [bits, score] of all.entries()) {
      for (let at = 0; at < FACTORS.length; at++) if ((all[bits | (1 << at)] ?? -1) < score) assert.fail(`${step} ${bits} ${at}`)
      if (step > 0 && score < (scores[step - 1]?.[bits] ?? 101)) assert.fail(`${step} ${bits}`)
    }
  }
})

test('the amount is read without rounding up', () => {
  const read: [number | string | undefined, bigint | null][] = [
    [undefined, null],
    ['9999.999999999999999999', 9_999n],
    ['10000', 10_000n],
    ['007.5', 7n],
    [9_999.99, 9_999n],
    [1e15, 10n ** 15n],
    [0, 0n],
  ]
  for (const [usd, whole] of read) assert.equal(wholeUsd(usd), whole, String(usd))
})

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const DAY_MS = 86_400_000

test('a domain is young for thirty days of 24 hours, to the millisecond', () => {
  const age = (at_ms: number) => domainAge({ kind: 'registered', at_ms }, NOW_MS)
  const young = (at_ms: number) => {
    const found = age(at_ms)
    return found.kind === 'known' ? [found.days, found.young] : found.reason
  }
  assert.deepEqual(young(NOW_MS), [0, true])
  assert.deepEqual(young(NOW_MS - 30 * DAY_MS + 1), [29, true])
  assert.deepEqual(young(NOW_MS - 30 * DAY_MS), [30, false])
  assert.deepEqual(young(NOW_MS + DAY_MS), [0, true])
  assert.equal(young(NOW_MS + DAY_MS + 1), 'in_future')
})

test('a disposable domain is found by itself and every parent, never by a substring', () => {
  for (const host of ['mailinator.com', 'a.mailinator.com', 'x.y.z.mailinator.com']) assert.equal(disposableDomain(host), 'mailinator.com')
  for (const host of ['mailinator.com.example', 'mymailinator-shop.com', 'com', 'gmail.com']) assert.equal(disposableDomain(host), null)
  assert.equal(freeMailDomain('gmail.com'), 'gmail.com')
  assert.equal(freeMailDomain('notgmail.com'), null)
})

test('what is registered is one label below a public suffix; addresses of machines are no domains', () => {
  const read: [string, string | null][] = [
    ['Billing@Pay.Example.co.uk', 'example.co.uk'],
    ['https://www.example.com/path?query#part', 'example.com'],
    ['bücher.de', 'xn--bcher-kva.de'],
    ['xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['ＥＸＡＭＰＬＥ．com', 'example.com'],
    ['example.com.', 'example.com'],
    ['example.com:8080', 'example.com'],
    ['http://example.com:80/', 'example.com'],
    ['Acme <billing@example.com>', 'example.com'],
    ['"Acme, Inc." <billing@example.com>;', 'example.com'],
    ['billing@example.com,', 'example.com'],
    ['billing@example.com (Acme)', 'example.com'],
    ['mailto:billing@example.com', 'example.com'],
    ['<billing@example.com>', 'example.com'],
    ...['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '[::1]', 'localhost', 'com', 'co.uk', '', '@', 'a@b', 'a b.com'].map(
      (text): [string, null] => [text, null],
    ),
    ...['http://user:pass@example.com/', 'a@example.com, b@example.com', 'example.com/..', 'exam%70le.com', '../domain/x', 'a..com'].map(
      (text): [string, null] => [text, null],
    ),
  ]
  for (const [text, registrable] of read) assert.equal(readVendorDomain(text)?.registrable ?? null, registrable, text)
  assert.equal(readVendorDomain('shop.github.io')?.shared_platform, 'github.io')
  assert.equal(readVendorDomain('www.example.com')?.shared_platform, null)
})

test('an address names its country at the end, and states of the US are none', () => {
  const read: [string, string | null, boolean][] = [
    ['1 High Street, London, England', 'GB', false],
    ['10 Rue de Rivoli\n75001 Paris\nFrance', 'FR', false],
    ['Calle 5, 28001 Madrid, España', 'ES', false],
    ['PO Box 12, Nairobi, Kenya', 'KE', true],
    ['P. O. Box 12, Nairobi', null, true],
    ['Postfach 10 01, 60001 Frankfurt, Germany', 'DE', true],
    ['BP 45, Dakar, Senegal', 'SN', true],
    ['Boxwood Lane 4, Dublin, Republic of Ireland', 'IE', false],
    ['Port Moresby, Papua New Guinea', 'PG', false],
    ['12 Shop Box Road, Accra, Ghana', 'GH', false],
    ['Atlanta, Georgia 30303', null, false],
    ['Newark, New Jersey', null, false],
    ['Los Angeles, CA', null, false],
    ['New York, USA', 'US', false],
    ['Belfast, N. Ireland', 'GB', false],
    ['Belfast, N.Ireland', 'GB', false],
    ['Belfast BT1 5GS, N Ireland', 'GB', false],
    ['1 Main Street\nBallymena\nCo. Antrim\nNorthern Ireland', 'GB', false],
    ['Ballymena, Co. Antrim', null, false],
    ['Galway, Ireland', 'IE', false],
    ['Pyongyang, N. Korea', 'KP', false],
    ['Pyongyang, D.P.R. Korea', 'KP', false],
    ['Pyongyang, DPRK', 'KP', false],
    ['Seoul, S. Korea', 'KR', false],
    ['Seoul, Korea', null, false],
    ['', null, false],
  ]
  for (const [address, country, po_box] of read) {
    const facts = readPostalAddress(address)
    assert.deepEqual([facts.country, facts.po_box], [country, po_box], address)
  }
})

test('territories do not differ from the country whose accounts and taxes they share', () => {
  const factors = (given: Omit<Parameters<typeof inspectCounterparty>[0], 'domain'>) =>
    inspectCounterparty({ ...given, domain: null }).found.map(({ factor }) => factor)
  assert.deepEqual(factors({ recipient_iban: 'GB82WEST12345698765432', declared_country: 'JE' }), [])
  assert.deepEqual(factors({ recipient_iban: 'FR1420041010050500013M02606', declared_country: 'MQ' }), [])
  assert.deepEqual(factors({ recipient_iban: 'FR1420041010050500013M02606', declared_country: 'BE' }), ['iban_country_mismatch'])
  assert.deepEqual(factors({ vat_number: 'FR40303265045', declared_country: 'MC' }), [])
  assert.deepEqual(factors({ vat_number: 'EL094259216', declared_country: 'GR' }), [])
  assert.deepEqual(factors({ vat_number: '094259216', declared_country: 'EL' }), [])
})

/** 31 CFR chapter V as of August 2025: comprehensive, and list-based or sectoral. */
const COMPREHENSIVE = ['CU', 'IR', 'KP']
const ELEVATED = 'AF AL BA BY CD CF ET HK IQ LB LY ME MK MM NI RS RU SD SO SS VE XK YE'.split(' ')
const names = new Intl.DisplayNames(['en'], { type: 'region' })

test('a country under a comprehensive programme is blocked, declared or in an address, one under another programme reviewed, and no other stopped', () => {
  for (const code of COUNTRIES.keys()) {
    const declared = inspectCounterparty({ declared_country: code, lei: '5493001KJTIIGC8Y1R12', domain: null })
    const address = inspectCounterparty({
      physical_address: `1 Main Street, ${names.of(code) ?? code}`,
      lei: '5493001KJTIIGC8Y1R12',
      domain: null,
    })
    for (const { found } of [declared, address]) {
      assert.equal(
        counterpartyRisk(found, 250_000n).decision,
        COMPREHENSIVE.includes(code) ? 'BLOCK' : ELEVATED.includes(code) ? 'REVIEW' : 'CLEAR',
        code,
      )
    }
  }
})

/** The guard with a registry that answers this. */
async function guarded(registration: Registration, input: Record<string, unknown> = { vendor_domain: 'example.com' }) {
  let asked = 0
  const lookup = () => {
    asked++
    return Promise.resolve(registration)
  }
  const result = await tool.execute(input, { ...fixedSources([tool]), registrations: { source: 'rdap', lookup } })
  return {
    result: result as { risk_score: number; flags_triggered: { factor: string }[]; inspected_counterparty: { domain: unknown } },
    asked,
  }
}

test('a registry that says nothing is never a pass, whatever the reason', async () => {
  const reasons = ['no_registry', 'not_found', 'no_date', 'rate_limited', 'timeout', 'refused', 'unreadable', 'no_sample'] as const
  for (const reason of reasons) {
    const { result } = await guarded({ kind: 'unknown', reason, server: null })
    const domain = result.inspected_counterparty.domain as Record<string, unknown>
    assert.deepEqual([domain['status'], domain['unknown_reason'], domain['age_days']], ['unknown', reason, null])
    assert.deepEqual(
      result.flags_triggered.map(({ factor }) => factor),
      ['domain_age_unknown'],
    )
  }
  const { result } = await guarded({ kind: 'registered', at_ms: NOW_MS + 5 * DAY_MS, server: 'x' })
  assert.equal((result.inspected_counterparty.domain as Record<string, unknown>)['unknown_reason'], 'in_future')
})

test('a registry that is down stops the call, but only where a domain was given', async () => {
  await assert.rejects(guarded({ kind: 'down', server: 'x' }), SourceDown)
  const { result, asked } = await guarded({ kind: 'down', server: 'x' }, { lei: '5493001KJTIIGC8Y1R12' })
  assert.deepEqual([result.risk_score, asked], [0, 0])
  const platform = await guarded({ kind: 'down', server: 'x' }, { vendor_domain: 'shop.github.io' })
  assert.equal(platform.asked, 0)
})

test('each of several e-mail addresses in one field is judged, and each factor counts once', async () => {
  const known: Registration = { kind: 'registered', at_ms: NOW_MS - 5_000 * DAY_MS, server: 'x' }
  const judged = async (vendor_domain: string) => {
    const { result, asked } = await guarded(known, { recipient_iban: 'GB82WEST12345698765432', vendor_domain })
    const { domain, other_domains } = result.inspected_counterparty as { domain: unknown; other_domains?: unknown[] }
    return {
      flags: result.flags_triggered.map(({ factor }) => factor),
      asked,
      hosts: [domain, ...(other_domains ?? [])].map((one) => (one as { host: string } | null)?.host),
    }
  }
  for (const text of [
    'billing@mailinator.com, cc@acme.com',
    'cc@acme.com;billing@mailinator.com',
    '"Acme, Inc." <cc@acme.com>, x <billing@mailinator.com>',
  ]) {
    const { flags, asked, hosts } = await judged(text)
    assert.deepEqual(
      [flags, asked, hosts.map(String).toSorted((one, other) => one.localeCompare(other))],
      [['disposable_email_domain'], 2, ['acme.com', 'mailinator.com']],
      text,
    )
  }
  assert.deepEqual(await judged('a@acme.com, b@acme.com'), { flags: [], asked: 1, hosts: ['acme.com'] })
  const six = await judged(Array.from({ length: 6 }, (_, index) => `a@acme${index}.com`).join(','))
  assert.equal(six.asked, 4)
  assert.equal(six.hosts.at(-1), null)
})

test('a call without a domain that a registry is asked about reads no source', () => {
  assert.equal(tool.reads_outside?.({ recipient_iban: 'GB82WEST12345698765432' }, false), false)
  assert.equal(tool.reads_outside?.({ vendor_domain: 'shop.github.io' }, false), false)
  assert.equal(tool.reads_outside?.({ vendor_domain: 'a b' }, false), false)
  assert.equal(tool.reads_outside?.({ vendor_domain: 'a@example.com' }, false), true)
  assert.equal(tool.reads_outside?.({ payee_name: 'Acme' }, false), false)
  assert.equal(tool.reads_outside?.({ payee_name: 'Acme' }, true), true)
})

test('a VAT number without its letters is read with those of the declared country, or of the country whose tax it shares', () => {
  const read: [vat_number: string, declared_country: string, factors: string[]][] = [
    ['B58378431', 'ES', []],
    ['X1234567L', 'ES', []],
    ['U13585627', 'AT', []],
    ['u 1358 5627', 'AT', []],
    ['116.281.710', 'CH', []],
    ['116.281.710 MWST', 'CH', []],
    ['VAT 40303265045', 'FR', []],
    ['40303265045', 'MC', []],
    ['40303265045', 'RE', []],
    ['980780684', 'IM', []],
    ['094259216', 'GR', []],
    ['0428759497', 'BE', []],
    ['0428759497', 'DE', ['vat_country_mismatch']],
    ['DE136695976', 'FR', ['vat_country_mismatch']],
    ['B58378432', 'ES', ['vat_invalid']],
    ['US123456789', 'DE', ['vat_invalid']],
    ['136695976', 'US', ['vat_invalid']],
  ]
  for (const [vat_number, declared_country, factors] of read) {
    const { found } = inspectCounterparty({ vat_number, declared_country, domain: null })
    assert.deepEqual(
      found.map(({ factor }) => factor),
      factors,
      `${vat_number} ${declared_country}`,
    )
  }
  const { vat } = inspectCounterparty({ vat_number: 'B58378432', declared_country: 'ES', domain: null })
  assert.deepEqual([vat?.reason_code, vat?.facts?.country], ['bad_checksum', 'ES'])
})
