import { z } from 'zod'
import { checkIfGiven, missingFieldIssues, PACK_HEADLINES, packAnswer, type CrossFinding } from '../../pure/checks/pack.ts'
import type { Check } from '../../pure/checks/verdict.ts'
import { isUnreadName, NOT_SCREENED, type NamesAnswer } from './names.ts'
import { defineTool, PURE, type Sources, type Tool } from './define.ts'
import { atLeastOne, DATA_AS_OF, IDENTIFIER, NAME_INPUT, NAMES_ANSWER } from './schemas.ts'

/** Packs: several checks of one party in one call, and the screening of its name. */

const EVALUATED_AT = z.string().nullable().describe('Time of the screening, from which the ages of lists are counted; null without a name.')

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
const nameOf = (field: string) => NAME_INPUT.name.describe(`The ${field}; screened on sanctions lists if this service has an engine.`)
const COUNTRY = NAME_INPUT.country.describe('Country; ISO 3166-1 alpha-2, of the party with this name. It never clears a match.')
export const BIRTH_DATE = NAME_INPUT.birth_date.describe(
  'Birth date; YYYY-MM-DD or YYYY. It is compared with those of a match and never clears one.',
)

/** Input fields of a pack with the name of a landlord. */
export const LANDLORD_INPUT = { landlord_name: nameOf('landlord name'), country: COUNTRY, birth_date: BIRTH_DATE }
export const PAYEE_NAME = nameOf('payee name')

/** Members of its answer. */
export const LANDLORD_OUTPUT = {
  names: NAMES_ANSWER.describe('Screening of the landlord’s name; null if none was given.'),
  evaluated_at: EVALUATED_AT,
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
  checked: 'the name of the landlord, if given and names.engine is not null, on the lists in names.lists',
  not_checked: 'that a possible match is the landlord, and names where names.status is not_screened',
}

/** Party to a payment, as it was given. */
interface Party {
  name: string | undefined
  birth_date: string | undefined
}

/** Screens the name of a party; null if none was given. Throws `SourceDown` where the engine does not answer, so that the call is not charged. */
export function screenParty({ name, birth_date }: Party, names: Sources['names'], now_ms: number) {
  return name === undefined ? null : names.screen({ name, birth_date: birth_date ?? null }, now_ms)
}

/** Reason why a person must look at the party: a possible match, or no match on lists that are old. Null for none, and for a name that was not screened. */
export function nameConcern(names: NamesAnswer | null): string | null {
  if (names === null || (names.status === 'not_screened' && !isUnreadName(names))) return null
  if (names.status === 'not_screened') return names.reason
  return names.status === 'possible_match' || names.lists.some(({ stale }) => stale) ? names.reason : null
}

/** A sentence with the remark that the name was not screened, where it was not. */
export function withNameRemark(sentence: string, names: NamesAnswer | null): string {
  return names?.status === 'not_screened' ? `${sentence} ${NOT_SCREENED}` : sentence
}

/** The answer of a band with that remark. */
export function withRemark<Answer extends { recommendation: string }>(answer: Answer, names: NamesAnswer | null): Answer {
  return { ...answer, recommendation: withNameRemark(answer.recommendation, names) }
}

/** Completes an answer with the screening of a name. The answer is made after the screening, so that its tables and dates are of one moment. */
export function answerWithName<Answer extends object>(
  party: Party,
  { clock, names: source }: Pick<Sources, 'clock' | 'names'>,
  answer: (names: NamesAnswer | null) => Answer,
) {
  const now_ms = clock.now_ms()
  const complete = (names: NamesAnswer | null) => ({
    ...answer(names),
    names,
    evaluated_at: names === null ? null : new Date(now_ms).toISOString(),
  })
  const screened = screenParty(party, source, now_ms)
  return screened instanceof Promise ? screened.then(complete) : complete(screened)
}

/** Cross finding about a name that a person must look at; one that was not screened is only for information. */
function nameFindings(field: string, names: NamesAnswer | null): CrossFinding[] {
  if (names === null) return []
  if (isUnreadName(names)) return [{ code: 'name_unread', fields: [field], severity: 'warning', message: names.reason }]
  if (names.status === 'not_screened') return [{ code: 'name_not_screened', fields: [field], severity: 'info', message: names.reason }]
  if (nameConcern(names) === null) return []
  const code = names.status === 'possible_match' ? 'name_possible_match' : 'name_lists_old'
  return [{ code, fields: [field], severity: 'warning', message: names.reason }]
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

/** Completes a pack: each given value by its own check, the values against one another, and the name of the party. */
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
      checked: [
        'each value by its own check',
        ...checked,
        `the name of the ${party}, if given and names.engine is not null, on the lists in names.lists`,
      ],
      not_checked: [
        'that any of the values was issued',
        'whose they are',
        `that a possible match is the ${party}, and names where names.status is not_screened`,
        'that a payment would arrive',
      ],
    },
    headline: PACK_HEADLINES,
    sources: ['clock', 'names'],
    reads_outside: (given) => given[name_field] !== undefined,
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
      names: NAMES_ANSWER.describe(`Screening of the name of the ${party}; null if none was given.`),
      evaluated_at: EVALUATED_AT,
      data_as_of: DATA_AS_OF,
    }),
    example,
    run(asked, sources) {
      const given = asked as Readonly<Record<string, string | undefined>>
      const named = { name: given[name_field], birth_date: given['birth_date'] }
      return answerWithName(named, sources, (names) => {
        const checks = Object.fromEntries(entries.map(([field, { check }]) => [field, checkIfGiven(given[field], check)]))
        const findings = [...cross(checks as ChecksOf<Parts>), ...nameFindings(name_field, names)]
        const dates = entries.map(([field, part]) => (checks[field] === null ? {} : part.dates))
        const answer = packAnswer(checks, findings, nameConcern(names))
        return {
          ...answer,
          summary: withNameRemark(answer.summary, names),
          data_as_of: Object.assign({}, ...dates) as Record<string, string>,
        }
      })
    },
  })
}
