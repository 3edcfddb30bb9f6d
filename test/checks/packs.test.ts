import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeInput } from '../../src/service/catalogue/decode.ts'
import type { Tool } from '../../src/service/catalogue/define.ts'
import { loadCatalogue } from '../../src/service/catalogue/load.ts'
import { runs, SEED } from '../support/counts.ts'
import { fixedSources } from '../support/sources.ts'

const { tools } = await loadCatalogue()
const sources = fixedSources(tools)

/** Good values of one supplier each, and the tool that checks a field by itself. */
const PACKS: Record<string, Record<string, [value: string, tool: string, field: string]>> = {
  'india-supplier-check': {
    gstin: ['29AAGCB7383J1Z4', 'gstin-check', 'gstin'],
    pan: ['AAGCB7383J', 'pan-format-check', 'pan'],
    vpa: ['name@okhdfcbank', 'upi-vpa-check', 'vpa'],
    ifsc: ['HDFC0000001', 'ifsc-check', 'ifsc'],
  },
  'china-supplier-check': {
    uscc: ['91110000600037341L', 'uscc-check', 'uscc'],
    iban: ['DE89370400440532013000', 'iban-check', 'iban'],
    swift: ['DEUTDEFF', 'swift-bic-check', 'bic'],
  },
  'japan-supplier-check': {
    corporate_number: ['1180301018771', 'japan-corp-check', 'number'],
    iban: ['GB82WEST12345698765432', 'iban-check', 'iban'],
  },
  'latam-supplier-check': {
    cnpj: ['33000167000101', 'cnpj-check', 'cnpj'],
    rfc: ['MAB9307148T4', 'rfc-check', 'rfc'],
    iban: ['BR1500000000000010932840814P2', 'iban-check', 'iban'],
  },
  'gulf-supplier-check': {
    trn: ['100123456700003', 'uae-trn-check', 'trn'],
    iban: ['AE070331234567890123456', 'iban-check', 'iban'],
    swift: ['EBILAEAD', 'swift-bic-check', 'bic'],
  },
  'africa-supplier-check': {
    kra_pin: ['P051365947M', 'kra-pin-check', 'pin'],
    iban: ['EG380019000500000000263180002', 'iban-check', 'iban'],
    swift: ['NBEGEGCX', 'swift-bic-check', 'bic'],
  },
  'vendor-onboarding-pack': {
    iban: ['GB82WEST12345698765432', 'iban-check', 'iban'],
    lei: ['213800WSGIIZCXF1P572', 'lei-check', 'lei'],
    vat_number: ['XI980780684', 'vat-mod97-check', 'vat_number'],
    company_number: ['SC123456', 'company-number-format', 'company_number'],
  },
}

interface Answer {
  valid: boolean
  verdict: string
  summary: string
  checks: Record<string, Record<string, unknown> | null>
  cross_checks: { code: string; fields: string[]; severity: string }[]
}

function toolOf(id: string): Tool {
  const tool = tools.find((one) => one.id === id)
  assert.ok(tool !== undefined, `${id} is missing`)
  return tool
}

async function answer(id: string, input: Record<string, string>): Promise<Answer> {
  const tool = toolOf(id)
  return (await tool.execute(tool.input.parse(input), sources)) as unknown as Answer
}

function subsets(values: Record<string, string>): Record<string, string>[] {
  return Object.entries(values).reduce<Record<string, string>[]>(
    (found, [field, value]) => [...found, ...found.map((one) => ({ ...one, [field]: value }))],
    [{}],
  )
}

const goodOf = (id: string) => Object.fromEntries(Object.entries(PACKS[id] ?? {}).map(([field, [value]]) => [field, value]))

for (const [id, fields] of Object.entries(PACKS)) {
  test(`${id}: a valid field that fits never makes the pack invalid`, async () => {
    for (const input of subsets(goodOf(id)).slice(1)) {
      const { valid, verdict, checks } = await answer(id, input)
      assert.deepEqual([valid, verdict === 'fail'], [true, false], JSON.stringify(input))
      assert.deepEqual(Object.keys(checks).toSorted(), Object.keys(fields).toSorted())
      for (const field of Object.keys(fields)) assert.equal(checks[field] !== null, field in input)
    }
  })

  test(`${id}: each check stands whole, as its own tool answers it`, async () => {
    const { checks } = await answer(id, goodOf(id))
    for (const [field, [value, tool, name]] of Object.entries(fields)) {
      const alone = await toolOf(tool).execute({ [name]: value }, sources)
      for (const [key, part] of Object.entries(checks[field] ?? {})) assert.deepEqual(part, alone[key], `${field}.${key}`)
      assert.ok(Object.hasOwn(checks[field] ?? {}, 'facts'))
    }
  })

  test(`${id}: one spoiled field makes it invalid and is named`, async () => {
    for (const field of Object.keys(fields)) {
      const { valid, verdict, summary, checks } = await answer(id, { ...goodOf(id), [field]: '?' })
      assert.deepEqual([valid, verdict, checks[field]?.['valid']], [false, 'fail', false])
      assert.match(summary, new RegExp(`\\b${field} fails`))
    }
  })

  test(`${id}: without any field the problem names them all`, () => {
    const decoded = decodeInput(toolOf(id), {})
    assert.ok(!decoded.ok)
    assert.equal(decoded.problem.code, 'INPUT_SCHEMA_INVALID')
    assert.deepEqual(
      decoded.problem.errors.map(({ pointer, code }) => [pointer, code]),
      Object.keys(fields).map((field) => [`/input/${field}`, 'missing']),
    )
  })

  test(`${id}: any texts: valid exactly when all checks are and nothing is fatal`, async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(...Object.values(PACKS).flatMap((one) => Object.values(one).map(([value]) => value))),
    )
    const input = fc.dictionary(fc.constantFrom(...Object.keys(fields)), text, { minKeys: 1, noNullPrototype: true })
    await fc.assert(
      fc.asyncProperty(input, async (values) => {
        const { valid, verdict, checks, cross_checks } = await answer(id, values)
        // What is well formed but cannot be verified is a warning of a pack, not a failure.
        const passes = (check: Record<string, unknown> | null | undefined) =>
          check?.['valid'] === true || check?.['verdict'] === 'well_formed_unverifiable'
        const all = Object.values(checks).every((check) => check === null || passes(check))
        assert.equal(valid, all && cross_checks.every(({ severity }) => severity !== 'fatal'))
        assert.equal(verdict === 'fail', !valid)
        for (const { code, fields: about } of cross_checks) {
          const isOfCountry = code === 'country_sanctioned' || code === 'country_elevated'
          assert.ok(about.length > 0 && about.every((field) => (isOfCountry ? field in values : passes(checks[field]))), code)
        }
      }),
      { numRuns: runs(200, 5_000), seed: SEED },
    )
  })
}

test('the same PAN under many entity numbers always matches, another one never', async () => {
  const pan = fc.constantFrom('AAGCB7383J', 'AAACR5055K', 'AAPFU0939F')
  const gstin = fc.constantFrom('29AAGCB7383J1Z4', '27AAACR5055K1Z7', '27AAPFU0939F1ZV', '38AAPFU0939F1ZS')
  await fc.assert(
    fc.asyncProperty(pan, gstin, async (one, other) => {
      const { valid, cross_checks } = await answer('india-supplier-check', { pan: one, gstin: other })
      assert.equal(valid, other.slice(2, 12) === one)
      assert.ok(cross_checks.some(({ code }) => code === (valid ? 'pan_in_gstin' : 'pan_not_in_gstin')))
    }),
    { numRuns: 50, seed: SEED },
  )
})
