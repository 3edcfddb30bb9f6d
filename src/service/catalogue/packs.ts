import { z } from 'zod'
import { checkIfGiven, missingFieldIssues, PACK_HEADLINES, packAnswer, type CrossFinding } from '../../pure/checks/pack.ts'
import type { Check } from '../../pure/checks/verdict.ts'
import { answerName, namesAsOf, staleNamesMessage, type NamesAnswer } from '../../pure/screening/names-answer.ts'
import { defineTool, PURE, SourceDown, type Sources, type Tool } from './define.ts'
import { atLeastOne, DATA_AS_OF, IDENTIFIER, NAME_INPUT, NAMES_ANSWER } from './schemas.ts'

/** Packs: several checks of one party in one call, and the screening of its name. */

const EVALUATED_AT = z.string().nullable().describe('Time from which the ages of the lists are counted; null without a name.')

/** A check's own answer inside that of a pack. */
const PACK_CHECK = z.record(z.string(), z.unknown()).nullable()

const CROSS_CHECK = z.strictObject({
  code: z.string().describe('Kind of finding.'),
  fields: z.array(z.string()).describe('The fields it is about.'),
  severity: z.enum(['fatal', 'warning', 'info']).describe('fatal makes the whole invalid.'),
  message: z.string().describe('One sentence.'),
})

/** A value that a pack is given. */
export const PACK_VALUE = IDENTIFIER.optional()

/** Input of a pack: at least one of `fields`, and `more` in addition. */
export function packInput<Fields extends z.ZodRawShape, More extends z.ZodRawShape>(fields: Fields, more: More) {
  const names = Object.keys(fields)
  return z
    .strictObject({ ...fields, ...more })
    .check(({ value, issues }) => void issues.push(...missingFieldIssues(names, value)))
    .meta(atLeastOne(names))
}

/** Input fields for the name of a party. Lists for models show the words before the semicolon, if they say more than the name of the field. */
const nameOf = (field: string) => NAME_INPUT.name.describe(`The ${field}; it is screened against the loaded sanctions lists.`)
const COUNTRY = NAME_INPUT.country.describe(
  'Country; ISO 3166-1 alpha-2, of the party with this name. Another one lowers a score, and no more.',
)
export const BIRTH_DATE = NAME_INPUT.birth_date.describe('Birth date; YYYY-MM-DD or YYYY. Another one lowers a score, and no more.')

/** Input fields of a pack with the name of a landlord. */
export const LANDLORD_INPUT = { landlord_name: nameOf('landlord name'), country: COUNTRY, birth_date: BIRTH_DATE }
export const PAYEE_NAME = nameOf('payee name')

/** Members of its answer. */
export const LANDLORD_OUTPUT = {
  names: NAMES_ANSWER.describe('Screening of the landlord’s name, as ofac-sdn-check answers; null if none was given.'),
  evaluated_at: EVALUATED_AT,
  data_as_of: DATA_AS_OF,
}

/** Factors of a risk score. */
export const RISK_FLAGS = z
  .array(
    z.strictObject({
      factor: z.string().describe('Name of the factor in the rule book.'),
      points: z.int().min(0).max(100).describe('What it weighs.'),
      reason: z.string().describe('Why it was found.'),
    }),
  )
  .describe('The factors that were found; their points add up to the score.')

/** Members of an answer with a band of risk. */
export const BAND_OUTPUT = {
  risk_score: z.int().min(0).max(100).describe('Sum of the points, at most 100.'),
  band: z
    .enum(['low', 'elevated', 'high', 'critical'])
    .describe(
      '0-19, 20-44, 45-69, 70-100; at least elevated with a value that is invalid or has a warning, or a name that a person must look at.',
    ),
  recommendation: z.string().describe('What to do.'),
  flags: RISK_FLAGS,
  flags_fired: z.int().min(0).max(100).describe('How many.'),
}

/** Phrases of its scope. */
export const LANDLORD_SCOPE = {
  checked: 'the name of the landlord, if given, on the lists that names.lists states',
  not_checked: 'that a possible match is the landlord, and lists in names.not_loaded',
}

/** Party to a payment, as it was given. */
interface Party {
  name: string | undefined
  country: string | undefined
  birth_date: string | undefined
}

/**
 * Screens the name of a party; null if none was given. A possible match is always returned. Throws `SourceDown` where a live deployment has no match on lists that
 * are too old, so that the call is not charged.
 */
export function screenParty(
  { name, country, birth_date }: Party,
  { active, on_stale_list }: Sources['screening'],
  now_ms: number,
): Promise<NamesAnswer> | null {
  if (name === undefined) return null
  const query = { name, country: country?.toUpperCase() ?? null, birth_date: birth_date ?? null }
  return answerName(active(), query, now_ms).then((names) => {
    if (names.status === 'no_match_on_stale_list' && on_stale_list === 'refuse') throw new SourceDown(staleNamesMessage(names))
    return names
  })
}

/** Reason why a person must look at the party: a possible match, or a name that was not checked or not on recent lists. Null for none. */
export function nameConcern(names: NamesAnswer | null): string | null {
  return names === null || names.status === 'no_match' ? null : names.reason
}

/**
 * Completes an answer with the screening of a name. The answer is made after the screening, so that what it reads and its dates are of the same tables; without a
 * name it is made immediately.
 */
export function answerWithName<Answer extends { data_as_of: Readonly<Record<string, string>> }>(
  party: Party,
  { clock, screening }: Pick<Sources, 'clock' | 'screening'>,
  answer: (names: NamesAnswer | null) => Answer,
) {
  const now_ms = clock.now_ms()
  const complete = (names: NamesAnswer | null) => {
    const made = answer(names)
    const data_as_of: Record<string, string> = { ...made.data_as_of, ...(names && namesAsOf(names)) }
    return { ...made, names, evaluated_at: names === null ? null : new Date(now_ms).toISOString(), data_as_of }
  }
  return screenParty(party, screening, now_ms)?.then(complete) ?? complete(null)
}

const NAME_FINDINGS = {
  possible_match: 'name_possible_match',
  no_match_on_stale_list: 'name_lists_old',
  not_checked: 'name_not_checked',
} as const

function nameFindings(field: string, names: NamesAnswer | null): CrossFinding[] {
  if (names === null || names.status === 'no_match') return []
  return [{ code: NAME_FINDINGS[names.status], fields: [field], severity: 'warning', message: names.reason }]
}

/** One check of a pack. */
interface PackPart<Facts> {
  check: (text: string) => Check<Facts>
  /** Description of the input. */
  input: string
  /** Tool whose answer it gives. */
  tool: string
  /** Tables that it reads. */
  dates?: Readonly<Record<string, string>>
}

type PackParts = Readonly<Record<string, PackPart<unknown>>>
type ChecksOf<Parts> = { [Field in keyof Parts & string]: Parts[Field] extends PackPart<infer Facts> ? Check<Facts> | null : never }

interface PackSpec<Parts> extends Pick<Tool, 'id' | 'title' | 'description' | 'version'> {
  /** Kind of the party; the name of the input follows from it. */
  party: 'supplier' | 'vendor'
  /** Phrases of the scope in addition to those that all packs have. */
  checked: readonly string[]
  parts: Parts
  example: Readonly<Record<string, string>>
  cross(checks: ChecksOf<Parts>): CrossFinding[]
}

/** Completes a pack: each given value by its own check, the values against one another, and the name of the party on sanctions lists. */
export function definePack<const Parts extends PackParts>({ party, checked, parts, example, cross, ...words }: PackSpec<Parts>): Tool {
  const name_field = `${party}_name`
  const entries = Object.entries<PackPart<unknown>>(parts)
  const fields = <Field>(make: (part: PackPart<unknown>) => Field) =>
    Object.fromEntries(entries.map(([field, part]) => [field, make(part)] as const))
  return defineTool({
    ...words,
    family: 'packs',
    price: 'check',
    annotations: PURE,
    scope: {
      checked: ['each value by its own check', ...checked, `the name of the ${party}, if given, on the lists that names.lists states`],
      not_checked: [
        'that any of the values was issued',
        'whose they are',
        `that a possible match is the ${party}, and lists in names.not_loaded`,
        'that a payment would arrive',
      ],
    },
    headline: PACK_HEADLINES,
    sources: ['clock', 'screening'],
    input: packInput(
      fields(({ input }) => PACK_VALUE.describe(input)),
      { [name_field]: nameOf(`${party} name`), country: COUNTRY, ...(party === 'vendor' ? { birth_date: BIRTH_DATE } : {}) },
    ),
    output: z.strictObject({
      valid: z.boolean().describe('No given value is invalid and no cross finding is fatal.'),
      verdict: z.enum(['pass', 'review', 'fail']).describe('review: valid, with warnings to read.'),
      summary: z.string().describe('One sentence for people.'),
      checks: z
        .strictObject(fields(({ tool }) => PACK_CHECK.describe(`As ${tool} answers, or null.`)))
        .describe('Each check whole, under the field that was given.'),
      cross_checks: z.array(CROSS_CHECK).describe('What the values say of one another, and a name that a person must look at.'),
      names: NAMES_ANSWER.describe(`Screening of the name of the ${party}, as ofac-sdn-check answers; null if none was given.`),
      evaluated_at: EVALUATED_AT,
      data_as_of: DATA_AS_OF,
    }),
    example,
    run(asked, sources) {
      const given = asked as Readonly<Record<string, string | undefined>>
      const named = { name: given[name_field], country: given['country'], birth_date: given['birth_date'] }
      return answerWithName(named, sources, (names) => {
        const checks = Object.fromEntries(entries.map(([field, { check }]) => [field, checkIfGiven(given[field], check)]))
        const findings = [...cross(checks as ChecksOf<Parts>), ...nameFindings(name_field, names)]
        const dates = entries.map(([field, part]) => (checks[field] === null ? {} : part.dates))
        return { ...packAnswer(checks, findings, nameConcern(names)), data_as_of: Object.assign({}, ...dates) as Record<string, string> }
      })
    },
  })
}
