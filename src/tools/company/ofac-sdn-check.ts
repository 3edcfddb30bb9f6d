import { z } from 'zod'
import { OFAC_LIST_DAYS, type ListName, type Screening, type ScreeningResult } from '../../pure/checks/ofac.ts'
import { PLACES_AS_OF } from '../../pure/checks/prohibited-places.ts'
import { refreshAdvice } from '../../pure/datasets/feeds.ts'
import { datasetDate } from '../../pure/datasets/table.ts'
import { defineTool, PURE, SourceDown } from '../../service/catalogue/define.ts'
import { DATA_AS_OF, IDENTIFIER } from '../../service/catalogue/schemas.ts'

const LIST = z
  .strictObject({
    name: z.string().describe('The table that was asked.'),
    published_at: z.string().describe('Date up to which it is known.'),
    count: z.int().min(0).max(1_000_000).describe('Its rows.'),
    age_days: z.int().min(-10_000).max(1_000_000).describe('Whole days since then.'),
    limit_days: z.int().min(0).max(1_000_000).describe('Age beyond which "no match" and "elevated" are not relied on.'),
    stale: z.boolean().describe('Older than that.'),
    sha256: z.string().describe('SHA-256 of the table; GET /v1/datasets/{sha256} returns it.'),
  })
  .nullable()

const MATCH = z.strictObject({
  list: z.string().describe('Table.'),
  name: z.string().describe('Holder of the address, or the jurisdiction.'),
  key: z.string().describe('Address, or code of the jurisdiction; UA-DNR and UA-LNR are our own.'),
  level: z.enum(['comprehensive', 'needs_review', 'elevated']).describe('How far the prohibition goes.'),
  programmes: z.array(z.string()).describe('Programmes, where the source names them.'),
})

const REMARK = z.strictObject({
  code: z.string().describe('Kind of remark; bad_checksum is EIP-55.'),
  message: z.string().describe('One sentence.'),
  expected: z.string().nullable().describe('What would have been right, or null.'),
})

/** Screens an address or a place against the local lists; "no match" is returned only from a recent list. */
export default defineTool({
  id: 'ofac-sdn-check',
  title: 'Screen an address or jurisdiction (sanctions)',
  description:
    'Looks an EVM address up in a dated copy of the OFAC SDN list, or a country or region among prohibited jurisdictions. ' +
    '"No match" only from lists of at most 30 days, or with their age; no clearance. Names of persons and companies are not screened here.',
  family: 'company',
  version: '2.0.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: [
      'EVM addresses named on the SDN list',
      'addresses of other chains, if the list in use has them; only a match is reported',
      'jurisdictions under comprehensive or regional programmes',
      'EIP-55 capitals',
    ],
    not_checked: [
      'names of persons and companies',
      'addresses off the list that a listed party controls',
      'small towns of prohibited places, and names that much larger places elsewhere have too',
    ],
  },
  headline: [
    { when: { status: 'match' }, tone: 'bad', word: 'MATCH' },
    { when: { status: 'needs_review' }, tone: 'caution', word: 'NEEDS REVIEW' },
    { when: { status: 'elevated' }, tone: 'caution', word: 'ELEVATED RISK' },
    { when: { status: 'no_match' }, tone: 'good', word: 'NO MATCH' },
    { when: { status: 'no_match_on_stale_list' }, tone: 'caution', word: 'NO MATCH ON AN OLD LIST' },
    { when: { status: 'not_screened' }, tone: 'caution', word: 'NOT SCREENED' },
  ],
  sources: ['clock', 'screening'],
  input: z.strictObject({
    subject: IDENTIFIER.describe('EVM address (also CAIP-10, eip155:1:0x…), or a country code, a country, or a region such as UA-43.'),
  }),
  output: z.strictObject({
    status: z
      .enum(['match', 'needs_review', 'elevated', 'not_screened', 'no_match_on_stale_list', 'no_match'])
      .describe('Only `match` is a prohibition.'),
    match: z.boolean().describe('Whether the subject is on a list as prohibited.'),
    subject_kind: z.enum(['evm_address', 'other_address', 'jurisdiction', 'unknown']).describe('As what the subject was read.'),
    normalized: z.string().nullable().describe('The form that was looked up, or null when nothing was.'),
    chain_id: z.string().nullable().describe('The chain of a CAIP-10 account, or null; the lookup is the same for all.'),
    reason: z.string().describe('One sentence for people.'),
    matches: z.array(MATCH).describe('The rows that were found.'),
    findings: z.array(REMARK).describe('What is wrong or remarkable about the subject itself.'),
    list: LIST.describe('The list that decided, or null when none was asked.'),
    evaluated_at: z.string().describe('Time of the answer, from which the age of the list is counted.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { subject: '0x098B716B8Aaf21512996dC57EB0615e2383E2f96' },
  run({ subject }, { clock, screening }) {
    const now_ms = clock.now_ms()
    const lists = screening.active()
    return { ...screenedSubject(lists, subject, now_ms, screening.on_stale_list), ...answerDates(lists, now_ms) }
  },
})

function screenedSubject(lists: Screening, subject: string, now_ms: number, on_stale_list: 'refuse' | 'report') {
  const found = lists.screenSubject(subject)
  const list = found.list === null ? null : listShown(lists, found.list, now_ms)
  const { status } = found
  const old = list?.stale === true ? list : null
  // Since then the subject may have been put on the list, or its level raised.
  const lenient = status === 'no_match' || status === 'elevated'
  if (old !== null && lenient && on_stale_list === 'refuse') throw new SourceDown(staleWords(old, status))
  return {
    ...found,
    status: old !== null && status === 'no_match' ? ('no_match_on_stale_list' as const) : status,
    reason: old === null ? found.reason : staleReason(found, old),
    match: status === 'match',
    list,
  }
}

function answerDates({ lists }: Screening, now_ms: number) {
  const dates = Object.entries(lists).map(([list, { published_at, sha256 }]) => [list, datasetDate(published_at, sha256)] as const)
  return {
    evaluated_at: new Date(now_ms).toISOString(),
    data_as_of: { ...(Object.fromEntries(dates) as Record<string, string>), ...PLACES_AS_OF },
  }
}

function listShown(screening: Screening, name: ListName, now_ms: number) {
  const age_days = screening.ageDays(name, now_ms)
  const { published_at, count, sha256 } = screening.lists[name]
  return { name, published_at, count, sha256, age_days, limit_days: OFAC_LIST_DAYS, stale: age_days > OFAC_LIST_DAYS }
}

type Shown = ReturnType<typeof listShown>

function staleReason({ status, reason }: ScreeningResult, { age_days, published_at }: Shown): string {
  if (status === 'match') return reason
  if (status === 'no_match') return `Not on the list, which is ${age_days} days old: nothing follows from that.`
  return `${reason} So it was on ${published_at}, ${age_days} days ago; it may be prohibited since.`
}

function staleWords({ name, age_days }: Shown, status: ScreeningResult['status']): string {
  return (
    `${status === 'no_match' ? 'No match' : 'No prohibition'}, but the list ${name} is ${age_days} days old, more than ${OFAC_LIST_DAYS}, so no ` +
    `answer is given and nothing was charged. For the operator: ${refreshAdvice(name)}`
  )
}
