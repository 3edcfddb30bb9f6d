import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Tool } from '../../src/service/catalogue/define.ts'
import guard from '../../src/tools/packs/pre-disbursement-guard.ts'
import deposit from '../../src/tools/packs/rent-deposit-guard.ts'
import rental from '../../src/tools/packs/rental-verdict.ts'
import onboarding from '../../src/tools/packs/vendor-onboarding-pack.ts'
import { fixedSources } from '../support/sources.ts'

async function answer(tool: Tool, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  return await tool.execute(input, fixedSources([tool]))
}

/** Right by ISO 7064, but the national check digits inside were changed and the check digits made anew: how accounts on invoices are forged. */
const FORGED = [
  'SK1211115351562002977968',
  'CZ1708000000192000145390',
  'PL36109010150000071219812874',
  'HU15117730161111101800000001',
  'FI9112345600000786',
  'EE112200221020145686',
  'HR8210010051863000161',
  'SM59U0322509800000000270101',
  'IT40S0542811101000000123456',
]
const SOUND = 'GB82WEST12345698765432'

test('an account with wrong national check digits is cleared by no pack', async () => {
  for (const iban of FORGED) {
    const paid = await answer(guard, { recipient_iban: iban })
    assert.deepEqual([paid['decision'], paid['clear_to_disburse'], paid['risk_score']], ['REVIEW', false, 0], iban)
    assert.match(String(paid['summary']), /recipient_iban has a warning \(bad_national_checksum\)/)
    assert.equal((await answer(onboarding, { iban }))['verdict'], 'review', iban)
    const rent = await answer(deposit, { deposit_iban: iban })
    assert.deepEqual([rent['band'], rent['risk_score']], ['elevated', 0], iban)
    assert.match(String(rent['recommendation']), /deposit_iban has a warning \(bad_national_checksum\)/)
    const verdict = await answer(rental, { deposit_iban: iban })
    assert.deepEqual([verdict['verdict'], verdict['band'], verdict['risk_score']], ['CAUTION', 'elevated', 0], iban)
  }
})

test('with a sound account beside it, an invalid or doubtful number is never CLEAR', async () => {
  const doubtful = [
    { company_number: '00000000' },
    { company_number: 'HRB 12345' },
    { company_number: 'DROP TABLE' },
    { company_number: 'AB123456' },
    { vat_number: 'GB980780685' },
    { lei: '5493001KJTIIGC8Y1R13' },
  ]
  for (const values of doubtful) {
    const { decision, clear_to_disburse } = await answer(guard, { recipient_iban: SOUND, ...values })
    assert.notEqual(decision, 'CLEAR', JSON.stringify(values))
    assert.equal(clear_to_disburse, false)
  }
  const landlord = [{ landlord_company_no: 'AB123456' }, { landlord_company_no: '00000000' }, { landlord_lei: '5493001KJTIIGC8Y1R13' }]
  for (const values of landlord) {
    const { verdict, band } = await answer(rental, { deposit_iban: SOUND, ...values })
    assert.deepEqual([verdict, band], ['CAUTION', 'elevated'], JSON.stringify(values))
  }
})

/** Inputs of a check's recorded answers. */
function recorded(file: string): string[] {
  const { cases } = JSON.parse(readFileSync(new URL(`../../vectors/${file}.json`, import.meta.url), 'utf8')) as {
    cases: { in: Record<string, unknown> }[]
  }
  return [...new Set(cases.flatMap(({ in: input }) => Object.values(input).filter((value) => typeof value === 'string')))]
}

test('what vendor-onboarding-pack does not pass, the guard does not clear, for every recorded value of four checks', async () => {
  const kinds = [
    ['bank/iban-check', 'iban', 'recipient_iban'],
    ['company/lei-check', 'lei', 'lei'],
    ['tax/vat-mod97-check', 'vat_number', 'vat_number'],
    ['company/company-number-format', 'company_number', 'company_number'],
  ] as const
  for (const [file, field, guard_field] of kinds) {
    const values = recorded(file)
    assert.ok(values.length > 10, file)
    for (const value of values) {
      const { verdict } = await answer(onboarding, { [field]: value })
      const { decision } = await answer(guard, { [guard_field]: value })
      if (verdict !== 'pass') assert.notEqual(decision, 'CLEAR', `${field} ${value}: ${String(verdict)}`)
    }
  }
})

test('an address that could not be read is a reason for a person to look', async () => {
  for (const physical_address of ['???', 'asdfgh qwertz', '12345', 'n/a', '-', '0']) {
    const { decision, summary } = await answer(guard, { recipient_iban: SOUND, physical_address })
    assert.deepEqual(
      [decision, summary],
      ['REVIEW', `A person should look at this payee before it is paid. ${UNREAD} No factor of the rule book fired.`],
    )
  }
  const read = { recipient_iban: SOUND, physical_address: '1 High Street, London EC1A 1BB, United Kingdom' }
  assert.equal((await answer(guard, read))['decision'], 'CLEAR')
})

const UNREAD = 'Confirm before you pay: physical_address could not be read.'
