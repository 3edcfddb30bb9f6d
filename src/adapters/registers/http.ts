import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { RegisterFault, RegisterId, RegisterNumber, RegisterReader, RegisterReading, RegisterRecord } from '../../ports/registers.ts'
import { cutText } from '../../pure/cut-text.ts'
import { isObject, jsonObject } from '../../pure/is-object.ts'
import { readBoundedText } from '../../pure/read-bounded.ts'
import { registerLimits } from '../../service/limits.ts'

/**
 * Reads single records of public registers over https. An answer counts only in the publisher's exact form and for the number that was asked
 * about: everything else is `not_reached`, so that neither a broken register nor a proxy in front of it makes a number look unregistered.
 */

/** Response to a GET that cannot be steered to private addresses; null if it was, or if it was redirected. */
type OpenRegister = (
  url: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>>,
) => Promise<(Readable & { statusCode?: number | undefined; headers: IncomingHttpHeaders }) | null>

export interface RegisterSource {
  id: RegisterId
  /** Base URL of a mirror; by default the publisher's. */
  base?: string
  /** API key of Companies House. */
  key?: string
}

/** Publishers' base URLs. */
export const REGISTER_URLS: Readonly<Record<RegisterId, string>> = {
  vies: 'https://ec.europa.eu/taxation_customs/vies/rest-api/',
  gleif: 'https://api.gleif.org/api/v1/',
  'companies-house': 'https://api.company-information.service.gov.uk/',
}

type Json = Readonly<Record<string, unknown>>

interface Format {
  path(number: RegisterNumber): string
  /** Reads the JSON of an answer with status 200. */
  record(body: Json, number: RegisterNumber): RegisterReading
  /** Returns true for the register's own way of saying that there is no such record, in an answer with status 404. */
  isNotFound(body: Json): boolean
}

const FORMATS: Readonly<Record<RegisterId, Format>> = {
  vies: { path: ({ country, number }) => `ms/${country}/vat/${number}`, record: viesRecord, isNotFound: () => false },
  gleif: { path: ({ number }) => `lei-records/${number}`, record: gleifRecord, isNotFound: ({ errors }) => Array.isArray(errors) },
  'companies-house': {
    path: ({ number }) => `company/${number}`,
    record: companyRecord,
    isNotFound: (body) => wordsIn(body['errors'], 'error').includes('company-profile-not-found'),
  },
}

export function createRegisterReader({ id, base = REGISTER_URLS[id], key }: RegisterSource, open: OpenRegister): RegisterReader {
  const format = FORMATS[id]
  // RFC 7617: the key is the user name, and there is no password.
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Basic ${btoa(`${key}:`)}` }
  const addressIn = (start: string, number: RegisterNumber) => new URL(format.path(number), start.endsWith('/') ? start : `${start}/`).href
  return {
    id,
    url: (number) => addressIn(REGISTER_URLS[id], number),
    async read(number, signal) {
      try {
        const response = await open(addressIn(base, number), signal, headers)
        if (response === null) return notReached('refused')
        const text = await readBoundedText(response, registerLimits.answer_bytes)
        return readAnswer(format, number, response.statusCode ?? 0, text, response.headers['retry-after'])
      } catch {
        return notReached(signal.aborted ? 'timeout' : 'down')
      }
    },
  }
}

function notReached(fault: RegisterFault, pause_s: number | null = null): RegisterReading {
  return { kind: 'not_reached', fault, pause_s }
}

function readAnswer(format: Format, number: RegisterNumber, status: number, text: string | null, retry_after?: string): RegisterReading {
  if (status === 429) return notReached('rate_limited', secondsOf(retry_after))
  if (status >= 500) return notReached('down', secondsOf(retry_after))
  if (status === 401 || status === 403) return notReached('not_authorized')
  const body = text === null ? null : jsonObject(text)
  if (body === null) return notReached('unreadable')
  if (status === 404) return format.isNotFound(body) ? { kind: 'not_found' } : notReached('unreadable')
  return status === 200 ? format.record(body, number) : notReached('refused')
}

/** Retry-After in seconds; null for a date or none. */
function secondsOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : null
}

/** Errors of VIES that pass, by their meaning; any other is `refused`. */
const VIES_FAULTS: ReadonlyMap<string, RegisterFault> = new Map<string, RegisterFault>(
  Object.entries({
    SERVICE_UNAVAILABLE: 'down',
    GLOBAL_MAX_CONCURRENT_REQ: 'rate_limited',
    GLOBAL_MAX_CONCURRENT_REQ_TIME: 'rate_limited',
    MS_MAX_CONCURRENT_REQ: 'partly_down',
    MS_MAX_CONCURRENT_REQ_TIME: 'partly_down',
    MS_UNAVAILABLE: 'partly_down',
    TIMEOUT: 'partly_down',
  } as const),
)

/**
 * Answer of `GET ms/{country}/vat/{number}` of the VIES REST service of the European Commission, as it is since 2022 (described by its users, as
 * at https://stackoverflow.com/questions/77422403, read 2026-10-08): `isValid`, `userError` (VALID, INVALID or an error), `name`, `address`,
 * `vatNumber`; `---` where a member state does not publish a fact. Other failures come as `{actionSucceed: false, errorWrappers: [{error}]}`.
 */
function viesRecord(body: Json, { number }: RegisterNumber): RegisterReading {
  const { isValid, userError, vatNumber } = body
  const [error = typeof userError === 'string' ? userError : undefined] = wordsIn(body['errorWrappers'], 'error')
  if (error !== undefined && error !== 'VALID' && error !== 'INVALID') return notReached(VIES_FAULTS.get(error) ?? 'refused')
  if (typeof isValid !== 'boolean' || (isValid ? 'VALID' : 'INVALID') !== error || vatNumber !== number) return notReached('unreadable')
  if (!isValid) return { kind: 'not_found' }
  const name = published(body['name'], registerLimits.name_chars)
  const address = published(body['address'], registerLimits.address_chars)
  if (name === undefined || address === undefined) return notReached('unreadable')
  return { kind: 'found', record: { ...NOTHING_PUBLISHED, name, address, state: 'active', register_status: 'VALID' } }
}

const NOTHING_PUBLISHED: Omit<RegisterRecord, 'state'> = {
  name: null,
  address: null,
  register_status: null,
  entity_status: null,
  registered_on: null,
  ended_on: null,
  renewal_due: null,
  updated_on: null,
}

/** Registration statuses of LEI-CDF 3.1 (GLEIF, 2021) under which the code identifies its entity. */
const LEI_CURRENT: ReadonlySet<unknown> = new Set(['ISSUED', 'PENDING_TRANSFER', 'PENDING_ARCHIVAL'])
const LEI_ENDED: ReadonlySet<unknown> = new Set(['RETIRED', 'MERGED', 'DUPLICATE', 'ANNULLED', 'CANCELLED', 'TRANSFERRED'])

/**
 * Answer of `GET lei-records/{lei}` of the GLEIF API 1.0 (https://www.gleif.org/en/lei-data/gleif-api, JSON:API): `data.attributes` has
 * `lei`, `entity` (legalName, legalAddress, status, expiration) and `registration` (status and dates).
 */
function gleifRecord({ data }: Json, { number }: RegisterNumber): RegisterReading {
  const attributes = memberOf(data, 'attributes')
  const entity = memberOf(attributes, 'entity')
  const registration = memberOf(attributes, 'registration')
  const name = published(memberOf(entity, 'legalName')?.['name'], registerLimits.name_chars)
  const register_status = published(registration?.['status'], registerLimits.status_chars)
  if (attributes?.['lei'] !== number || typeof name !== 'string' || typeof register_status !== 'string') return notReached('unreadable')
  const entity_status = published(entity?.['status'], registerLimits.status_chars) ?? null
  const { addressLines, city, region, postalCode, country } = memberOf(entity, 'legalAddress') ?? {}
  const lines: unknown[] = Array.isArray(addressLines) ? addressLines : []
  const record: RegisterRecord = {
    name,
    address: addressOf([...lines, city, region, postalCode, country]),
    state: leiState(register_status, entity_status),
    register_status,
    entity_status,
    registered_on: dayOf(registration?.['initialRegistrationDate']),
    ended_on: dayOf(memberOf(entity, 'expiration')?.['date']),
    renewal_due: dayOf(registration?.['nextRenewalDate']),
    updated_on: dayOf(registration?.['lastUpdateDate']),
  }
  return { kind: 'found', record }
}

function leiState(registration: string, entity: string | null): RegisterRecord['state'] {
  if (entity === 'INACTIVE' || LEI_ENDED.has(registration)) return 'inactive'
  if (registration === 'LAPSED') return 'lapsed'
  return LEI_CURRENT.has(registration) && entity === 'ACTIVE' ? 'active' : 'unknown'
}

/** `company_status` of the enumerations that Companies House publishes (companieshouse/api-enumerations, constants.yml). */
const COMPANY_STATES: ReadonlyMap<string, RegisterRecord['state']> = new Map<string, RegisterRecord['state']>(
  Object.entries({
    active: 'active',
    open: 'active',
    registered: 'active',
    liquidation: 'insolvency',
    receivership: 'insolvency',
    administration: 'insolvency',
    'voluntary-arrangement': 'insolvency',
    'insolvency-proceedings': 'insolvency',
    dissolved: 'inactive',
    'converted-closed': 'inactive',
    closed: 'inactive',
    removed: 'inactive',
  } as const),
)

/**
 * Answer of `GET company/{number}` of the Companies House Public Data API
 * (https://developer-specs.company-information.service.gov.uk/companies-house-public-data-api/reference/company-profile): `company_number`,
 * `company_name`, `company_status`, `registered_office_address`, `date_of_creation`, `date_of_cessation`. Some kinds of company have no status.
 */
function companyRecord(body: Json, { number }: RegisterNumber): RegisterReading {
  const name = published(body['company_name'], registerLimits.name_chars)
  const register_status = published(body['company_status'], registerLimits.status_chars)
  if (body['company_number'] !== number || typeof name !== 'string' || register_status === undefined) return notReached('unreadable')
  const office = memberOf(body, 'registered_office_address') ?? {}
  const parts = ['care_of', 'po_box', 'premises', 'address_line_1', 'address_line_2', 'locality', 'region', 'postal_code', 'country']
  const record: RegisterRecord = {
    ...NOTHING_PUBLISHED,
    name,
    address: addressOf(parts.map((part) => office[part])),
    state: COMPANY_STATES.get(register_status ?? '') ?? 'unknown',
    register_status,
    registered_on: dayOf(body['date_of_creation']),
    ended_on: dayOf(body['date_of_cessation']),
  }
  return { kind: 'found', record }
}

function memberOf(value: unknown, name: string): Json | null {
  const member = isObject(value) ? value[name] : undefined
  return isObject(member) ? member : null
}

/** Texts of one member of each object in a list. */
function wordsIn(list: unknown, name: string): string[] {
  const words = Array.isArray(list) ? list.slice(0, 20).map((one: unknown) => (isObject(one) ? one[name] : undefined)) : []
  return words.filter((word) => typeof word === 'string')
}

/** Text of a register in one line; null where nothing is published, undefined for a value that is not text. */
function published(value: unknown, chars: number): string | null | undefined {
  if (value === null || value === undefined) return null
  if (typeof value !== 'string') return undefined
  const lines = value.slice(0, 4 * chars).split(/[\r\n]/)
  // Control and format characters could disguise what a name says.
  const plain = lines.map((line) =>
    line
      .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, '')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  const text = plain.filter((line) => line !== '').join(', ')
  return text === '' || /^-+$/.test(text) ? null : cutText(text, chars)
}

function addressOf(parts: readonly unknown[]): string | null {
  const texts = parts.slice(0, 12).map((part) => published(part, registerLimits.address_chars))
  return cutText(texts.filter((text) => typeof text === 'string').join(', '), registerLimits.address_chars) || null
}

/** Day of a date or a moment of ISO 8601; null for anything else. */
function dayOf(value: unknown): string | null {
  const [day] = typeof value === 'string' && value.length <= 40 ? (/^\d{4}-\d{2}-\d{2}(?=T|$)/.exec(value) ?? []) : []
  return day !== undefined && !Number.isNaN(Date.parse(day)) ? day : null
}
