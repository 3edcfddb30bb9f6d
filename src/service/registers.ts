import { z } from 'zod'
import type { Clock, SteadyClock } from '../ports/clock.ts'
import type { RegisterFault, RegisterId, RegisterNumber, RegisterReader, RegisterReading, RegisterRecord } from '../ports/registers.ts'
import type { Gauge } from '../ports/telemetry.ts'
import { Breaker } from '../pure/breaker.ts'
import type { HeadlineRule } from '../pure/headline.ts'
import { isObject } from '../pure/is-object.ts'
import type { Tool } from './catalogue/define.ts'
import { headlineReader } from './catalogue/headlines.ts'
import { type Catalogue, catalogueOf } from './catalogue/load.ts'
import { createRateGuard, widerNetwork } from './clients.ts'
import { REGISTER_IDS, registerLimits } from './limits.ts'
import type { SourceBudget } from './payments/allowance.ts'
import { createRecentMap } from './recent.ts'

/**
 * Live registers, off by default: a call with `register: true` also asks the register of its tool, after the offline check has found the
 * number well formed. The offline verdict never depends on the answer, and waits for it at most `registerLimits.lookup_ms`.
 */

const TITLES: Readonly<Record<RegisterId, string>> = { vies: 'VIES', gleif: 'GLEIF', 'companies-house': 'Companies House' }

const INPUT = z
  .boolean()
  .optional()
  .describe('true: also ask the live register if the number is well formed. The verdict does not depend on its answer.')

const DAY = z.string().nullable()

const RECORD = z.strictObject({
  name: z.string().nullable().describe('Name in the register; null where it is not published.'),
  address: z.string().nullable().describe('Registered address in one line; null where it is not published.'),
  state: z
    .enum(['active', 'lapsed', 'insolvency', 'inactive', 'unknown'])
    .describe('Meaning of the statuses; lapsed: the entity exists, its registration was not renewed.'),
  register_status: z.string().nullable().describe('Status of the registration, in the word of the register.'),
  entity_status: z.string().nullable().describe('Status of the entity itself, where the register distinguishes the two.'),
  registered_on: DAY.describe('Day of the first registration or of incorporation.'),
  ended_on: DAY.describe('Day on which the entity ended.'),
  renewal_due: DAY.describe('Day by which the registration must be renewed.'),
  updated_on: DAY.describe('Day of the last change of the record.'),
})

const ANSWER = z
  .strictObject({
    status: z
      .enum(['found', 'not_found', 'not_reached', 'not_asked'])
      .describe('not_reached: nothing is known of the registration; not_asked: the number is not one of this register.'),
    reason_code: z.string().describe('For programs: ok, no_record, or why the register was not reached or asked.'),
    reason: z.string().describe('One sentence for people.'),
    register: z.enum(REGISTER_IDS).describe('The register.'),
    url: z.string().nullable().describe('Address of the record at its publisher; some want a key.'),
    checked_at: z.string().nullable().describe('When the register answered; answers are kept for up to an hour.'),
    record: RECORD.nullable().describe('Facts of the register.'),
  })
  .optional()
  .describe('Answer of the live register; only if it was asked for.')

type RegisterAnswer = NonNullable<z.output<typeof ANSWER>>

/** Returns the answer of a register in a signed result; null for none. */
export function registerAnswerIn(result: Readonly<Record<string, unknown>> | null): RegisterAnswer | null {
  const read = ANSWER.safeParse(result?.['register'])
  return read.success ? (read.data ?? null) : null
}

const REGISTERED: readonly HeadlineRule[] = (
  [
    ['active', 'good', 'registered'],
    ['lapsed', 'caution', 'registered, not renewed'],
    ['insolvency', 'caution', 'registered, insolvency'],
    ['inactive', 'caution', 'registered, no longer active'],
    ['unknown', 'caution', 'registered, status unclear'],
  ] as const
).map(([state, tone, word]) => ({
  when: { 'register.status': 'found', 'register.record.state': state },
  tone,
  word,
  sentence: '{register.reason}',
}))

const HEADLINES: readonly HeadlineRule[] = [
  ...REGISTERED,
  { when: { 'register.status': 'not_found' }, tone: 'caution', word: 'well formed, not registered', sentence: '{register.reason}' },
  {
    when: { 'register.status': ['not_reached', 'not_asked'], verdict: 'valid' },
    tone: 'good',
    word: 'valid',
    sentence: '{reason} {register.reason}',
  },
  {
    when: { 'register.status': ['not_reached', 'not_asked'], verdict: 'well_formed_unverifiable' },
    tone: 'caution',
    word: 'well formed, not verifiable',
    sentence: '{reason} {register.reason}',
    code: 'unverifiable',
  },
]

/** The tools of these registers, with the input `register` and their answers; all other tools as they are. */
export function withRegisters(catalogue: Catalogue, ids: readonly RegisterId[]): Catalogue {
  return ids.length === 0 ? catalogue : catalogueOf(catalogue.tools.map((tool) => registerTool(tool, ids)))
}

export function registerTool(tool: Tool, ids: readonly RegisterId[]): Tool {
  if (tool.register === undefined || !ids.includes(tool.register.id)) return tool
  const headlines = [...HEADLINES, ...tool.headlines]
  return {
    ...tool,
    input: tool.input.extend({ register: INPUT }),
    output: tool.output.extend({ register: ANSWER }),
    annotations: { ...tool.annotations, open_world: true },
    headlines,
    headline: headlineReader(headlines),
  }
}

/**
 * Returns the offline result with the answer of the register: the scope and `data_as_of` then name it. A replay builds the same result from
 * the stated answer.
 */
export function resultWithRegister(
  tool: Tool,
  offline: Readonly<Record<string, unknown>>,
  answer: RegisterAnswer,
): Record<string, unknown> {
  const { register, checked_at, status, url } = answer
  const reached = status === 'found' || status === 'not_found'
  const settled = new Set(reached ? tool.register?.settles : [])
  const scope = {
    checked: [...tool.scope.checked, ...(reached ? [`the record in ${TITLES[register]}, as of register.checked_at`] : [])],
    not_checked: tool.scope.not_checked.filter((phrase) => !settled.has(phrase)),
  }
  const dates = isObject(offline['data_as_of']) ? offline['data_as_of'] : {}
  const data_as_of = reached ? { ...dates, [register.replaceAll('-', '_')]: `${checked_at} from ${url}` } : dates
  // In the order of RFC 8785, as in every result.
  const members = Object.entries({ ...offline, data_as_of, register: answer, scope })
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Client of a lookup. Requests of free calls also use the daily budgets for reads of outside sources. */
interface RegisterClient {
  address: string
  paid: boolean
}

export interface RegisterState {
  id: RegisterId
  /** `paused`: the register failed or asked for a pause, and is not asked now. */
  state: 'ok' | 'paused'
}

export interface Registers {
  /** Returns the result with the answer of the register where the input asks for it; otherwise the result itself. Never rejects. */
  confirm(
    tool: Tool,
    input: Readonly<Record<string, unknown>> | null,
    result: Record<string, unknown>,
    client: RegisterClient,
  ): Promise<Record<string, unknown>>
  states(): RegisterState[]
  gauges: readonly Gauge[]
}

interface RegisterParts {
  readers: readonly RegisterReader[]
  clock: Clock & SteadyClock
  /** Daily budgets of free calls; null on the command line. */
  sources: SourceBudget | null
  /** Reports an unexpected error; it is never given a number. */
  onFault(error: unknown, register: RegisterId): void
}

/** Reasons why a register was not asked or not reached, as parts of a sentence that begins with its name. */
const FAULTS = {
  timeout: 'did not answer in time',
  down: 'does not answer',
  partly_down: 'answers, but the national database behind it does not',
  rate_limited: 'limits the number of requests',
  not_authorized: 'refuses the key of this service',
  refused: 'refused the request',
  unreadable: 'answered in a form that cannot be read, or about another number',
  paused: 'failed several times and is not asked for a while',
  client_budget: 'was asked as often as one network (/24, /48) may in a minute',
  budget: 'was asked as often as this service may in a minute for all clients together',
  daily_budget: 'was asked as often as free calls may today',
} as const satisfies Record<RegisterFault | 'paused' | 'client_budget' | 'budget' | 'daily_budget', string>

type Fault = keyof typeof FAULTS

/** Asks the registers of these readers, within their budgets. */
export function createRegisters(parts: RegisterParts): Registers {
  const lookups = new Map(parts.readers.map((reader) => [reader.id, createLookup(reader, parts)]))
  return {
    async confirm(tool, input, result, client) {
      const lookup = tool.register && lookups.get(tool.register.id)
      if (tool.register === undefined || lookup === undefined || input?.['register'] !== true) return result
      const { id, number: numberOf } = tool.register
      const number = result['verdict'] === 'invalid' ? null : numberOf(result)
      if (number === null) return resultWithRegister(tool, result, notAsked(id, result['verdict']))
      return resultWithRegister(tool, result, await lookup.ask(number, client))
    },
    states: () => Array.from(lookups, ([id, { paused }]) => ({ id, state: paused() ? 'paused' : 'ok' })),
    gauges: [
      {
        name: 'assay_register_answers_total',
        help: 'Calls that asked a live register, by register and outcome; cached: answered from memory.',
        kind: 'counter',
        read: () =>
          Array.from(lookups, ([register, { counts }]) =>
            Object.entries(counts).map(([outcome, value]) => ({ labels: { register, outcome }, value })),
          ).flat(),
      },
      {
        name: 'assay_register_up',
        help: '1 when a live register is asked, 0 while it is paused after failures.',
        kind: 'gauge',
        read: () => Array.from(lookups, ([register, { paused }]) => ({ labels: { register }, value: Number(!paused()) })),
      },
    ],
  }
}

interface Reached {
  reading: Exclude<RegisterReading, { kind: 'not_reached' }>
  checked_ms: number
}

/** Cache, budgets, circuit breaker and single flight of one register. */
function createLookup(reader: RegisterReader, { clock, sources, onFault }: RegisterParts) {
  const { id } = reader
  const answers = createRecentMap<Reached & { until_ms: number }>(registerLimits.remembered)
  const running = new Map<string, Promise<Reached | Fault>>()
  const breakers = createBreakers(clock)
  const admitClient = createRateGuard(clock, registerLimits.client_per_minute[id])
  const admitAll = createRateGuard(clock, registerLimits.per_minute[id])
  const counts = { found: 0, not_found: 0, not_reached: 0, cached: 0 }

  /** Takes one request out of the budgets of the client and of the register. */
  async function refusalOf({ country }: RegisterNumber, { address, paid }: RegisterClient): Promise<Fault | null> {
    if (breakers.isOpen(country)) return 'paused'
    if (!admitClient(widerNetwork(address)).ok) return 'client_budget'
    if (!admitAll(id).ok) return 'budget'
    if (paid || sources === null) return null
    return (await sources.take(address)).spent === null ? null : 'daily_budget'
  }

  async function read(key: string, number: RegisterNumber, client: RegisterClient, signal: AbortSignal): Promise<Reached | Fault> {
    const refusal = await refusalOf(number, client)
    const note = refusal === null ? breakers.take(number.country) : null
    if (note === null) return refusal ?? 'paused'
    const reading = await reader.read(number, signal)
    note(reading)
    if (reading.kind === 'not_reached') return reading.fault
    const reached = { reading, checked_ms: clock.now_ms() }
    const kept_ms = reading.kind === 'found' ? registerLimits.found_ms : registerLimits.not_found_ms
    answers.set(key, { ...reached, until_ms: clock.steady_ms() + kept_ms })
    return reached
  }

  async function look(key: string, number: RegisterNumber, client: RegisterClient, signal: AbortSignal): Promise<Reached | Fault> {
    // One request for all who ask about the same number; a refusal concerns the budget of one of them alone.
    for (let under_way = running.get(key); under_way !== undefined; under_way = running.get(key)) {
      const found = await under_way
      if (found !== 'client_budget' && found !== 'daily_budget') return found
    }
    const reading = read(key, number, client, signal).finally(() => running.delete(key))
    running.set(key, reading)
    return reading
  }

  return {
    counts,
    paused: breakers.areOpen,
    async ask(number: RegisterNumber, client: RegisterClient): Promise<RegisterAnswer> {
      const key = `${number.country} ${number.number}`
      const url = reader.url(number)
      const known = answers.get(key)
      if (known !== undefined && known.until_ms > clock.steady_ms()) {
        counts.cached++
        return reachedAnswer(id, known, url)
      }
      const signal = AbortSignal.timeout(registerLimits.lookup_ms)
      const found = await inTime(look(key, number, client, signal), signal).catch((error: unknown): Fault => {
        onFault(error, id)
        return 'down'
      })
      counts[typeof found === 'string' ? 'not_reached' : found.reading.kind]++
      return typeof found === 'string' ? notReached(id, found) : reachedAnswer(id, found, url)
    },
  }
}

/** Resolves with `timeout` when the signal fires first. A store or a name server that never answers must not hold a call. */
function inTime<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | 'timeout'> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => resolve('timeout'), { once: true })
    work.then(resolve, reject)
  })
}

/**
 * Circuit breakers of one register: one for all of it, and one for each country, since VIES waits for national databases and a slow one must not
 * stop the others. Answers that a client can cause, such as an unknown form of a number, open neither.
 */
function createBreakers(clock: SteadyClock) {
  const whole = new Breaker(registerLimits.breaker, clock)
  const countries = new Map<string, Breaker>()
  return {
    isOpen: (country: string) => whole.isOpen() || countries.get(country)?.isOpen() === true,
    areOpen: () => whole.isOpen() || (countries.size > 0 && [...countries.values()].every((one) => one.isOpen())),
    /** Returns a function that must be given the reading; null while a breaker is open. */
    take(country: string): ((reading: RegisterReading) => void) | null {
      const part = countries.get(country) ?? new Breaker(registerLimits.breaker, clock)
      countries.set(country, part)
      const ticket = whole.take()
      const own = ticket === null ? null : part.take()
      if (ticket !== null && own === null) whole.dropped(ticket)
      if (ticket === null || own === null) return null
      return (reading) => {
        const fault = reading.kind === 'not_reached' ? reading.fault : null
        if (fault === 'timeout') {
          whole.dropped(ticket)
          part.failed(own)
        } else if (fault === 'down' || fault === 'not_authorized') {
          whole.failed(ticket)
          part.dropped(own)
        } else if (fault === 'rate_limited') {
          whole.paused(ticket, pauseOf(reading))
          part.dropped(own)
        } else {
          whole.succeeded(ticket)
          part.succeeded(own)
        }
      }
    },
  }
}

function pauseOf(reading: RegisterReading): number {
  const asked_s = reading.kind === 'not_reached' ? reading.pause_s : null
  return asked_s === null ? registerLimits.limited_ms : Math.min(asked_s * 1_000, registerLimits.limited_max_ms)
}

function notReached(register: RegisterId, fault: Fault): RegisterAnswer {
  const reason = `${TITLES[register]} ${FAULTS[fault]}; only the offline checks count.`
  return { status: 'not_reached', reason_code: fault, reason, register, url: null, checked_at: null, record: null }
}

function notAsked(register: RegisterId, verdict: unknown): RegisterAnswer {
  const is_invalid = verdict === 'invalid'
  const reason = is_invalid
    ? `${TITLES[register]} was not asked, because the number is invalid.`
    : `${TITLES[register]} was not asked, because it does not list numbers of this kind.`
  const reason_code = is_invalid ? 'invalid' : 'not_of_this_register'
  return { status: 'not_asked', reason_code, reason, register, url: null, checked_at: null, record: null }
}

function reachedAnswer(register: RegisterId, { reading, checked_ms }: Reached, url: string): RegisterAnswer {
  const checked_at = new Date(checked_ms).toISOString()
  const title = TITLES[register]
  const day = checked_at.slice(0, 10)
  if (reading.kind === 'not_found') {
    const reason = `The number is well formed, but it was not registered in ${title} on ${day}.`
    return { status: 'not_found', reason_code: 'no_record', reason, register, url, checked_at, record: null }
  }
  const { record } = reading
  return { status: 'found', reason_code: 'ok', reason: foundReason(title, day, record), register, url, checked_at, record }
}

/** The name is not part of the sentence: it is text of the holder, and models read the sentence as that of this service. */
function foundReason(title: string, day: string, { state, name, ended_on, renewal_due }: RegisterRecord): string {
  const published = name === null ? ' The register does not publish the name.' : ''
  switch (state) {
    case 'active':
      return `Registered in ${title} and active on ${day}.${published}`
    case 'lapsed':
      return `Registered in ${title}, but on ${day} the registration was not renewed${renewal_due === null ? '' : ` (due ${renewal_due})`}.${published}`
    case 'insolvency':
      return `Registered in ${title}, but on ${day} insolvency proceedings were recorded.${published}`
    case 'inactive':
      return `Registered in ${title}, but on ${day} no longer active${ended_on === null ? '' : ` (ended ${ended_on})`}.${published}`
    case 'unknown':
      return `Registered in ${title} on ${day} with a status whose meaning is not known here.${published}`
  }
}
