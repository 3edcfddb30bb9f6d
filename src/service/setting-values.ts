import { readEvmAddress } from '../pure/checks/evm-address.ts'
import { type FurtherNetwork, readFurtherNetworks } from '../pure/networks.ts'
import { ZERO_ADDRESS } from '../pure/receipts/receipt.ts'
import type { RegisterId } from '../ports/registers.ts'
import { limits, REGISTER_IDS } from './limits.ts'

/** Readers of the values of settings. Each message completes the sentence "ASSAY_X …". */

export type SettingResult<T> = { ok: true; value: T } | { ok: false; message: string }

export const accept = <T>(value: T): SettingResult<T> => ({ ok: true, value })
export const reject = (message: string): { ok: false; message: string } => ({ ok: false, message })

export const text = (value: string) => accept(value)
const splitList = (value: string) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
export const list = (value: string) => accept(splitList(value))

export function integer(min: number, max: number) {
  return (value: string): SettingResult<number> => {
    const number = /^\d{1,10}$/.test(value) ? Number(value) : NaN
    return number >= min && number <= max ? accept(number) : reject(`must be a whole number from ${min} to ${max}`)
  }
}

export function portOrOff(value: string): SettingResult<number | 'off'> {
  if (value === 'off') return accept(value)
  const read = integer(0, 65_535)(value)
  return read.ok ? read : reject('must be a port from 0 to 65535, or off')
}

export function oneOf<const T extends string>(...values: T[]) {
  return (value: string): SettingResult<T> => {
    const found = values.find((known) => known === value)
    return found === undefined ? reject(`must be ${values.join(' or ')}`) : accept(found)
  }
}

export function address(value: string): SettingResult<string> {
  const read = /^0x[0-9a-fA-F]{40}$/.test(value) ? readEvmAddress(value) : null
  if (read === null) return reject('must be an address: 0x and 40 hexadecimal digits')
  if (read.checksum === 'broken')
    return reject('has a wrong checksum (EIP-55), so a digit or a capital is mistyped; copy the address again')
  return read.address === ZERO_ADDRESS ? reject('must not be the zero address, which has no known key') : accept(read.address)
}

export function addresses(value: string): SettingResult<string[]> {
  const found: string[] = []
  for (const part of splitList(value)) {
    const read = address(part)
    if (!read.ok) return reject(`must list addresses, separated by commas; number ${found.length + 1} ${read.message}`)
    found.push(read.value)
  }
  return accept(found)
}

/** The message never quotes a URL, which often carries a key. */
export function urls(value: string): SettingResult<string[]> {
  const found = splitList(value)
  const wrong = found.findIndex((part) => !isHttpUrl(part))
  return wrong === -1
    ? accept(found)
    : reject(`must list http or https URLs, separated by commas, such as https://rpc.example; number ${wrong + 1} is not one`)
}

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  try {
    // User and password are sent as a Basic authorization header, for which they must decode.
    decodeURIComponent(`${url.username}:${url.password}`)
    return true
  } catch {
    return false
  }
}

/** Accepts only the normalised form that browsers and clients send, so that origins can be compared as text. */
export function origin(value: string): SettingResult<string> {
  const url = /^https?:\/\/[^/?#\s]+$/.test(value) ? URL.parse(value) : null
  if (url === null || url.username !== '' || url.password !== '')
    return reject('must be an origin such as https://assay.example, without a path or a final slash')
  return url.origin === value ? accept(value) : reject(`must be in the normalised form ${url.origin}`)
}

/** Accepts a path or the URL of a PostgreSQL database; any other URL would be taken for the name of a file. */
export function storeTarget(value: string): SettingResult<string> {
  return isPostgres(value) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)
    ? accept(value)
    : reject('must be a path of a SQLite file, such as var/assay.sqlite, or a postgres:// URL')
}

export function overrides(value: string): SettingResult<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const part of value.split(',')) {
    const match = /^([a-z0-9-]{1,64})=(\d{1,9})$/.exec(part.trim())
    if (match?.[1] === undefined)
      return reject('must list tools with their free calls per day, such as token-contract-risk=5,iban-check=10')
    if (Object.hasOwn(found, match[1])) return reject(`names ${match[1]} twice`)
    found[match[1]] = Number(match[2])
  }
  return accept(found)
}

export function packs(value: string): SettingResult<string[]> {
  const found = value.split(',').map((part) => part.trim())
  const fits = found.length <= 12 && found.every((part) => /^[1-9]\d{0,3}$/.test(part))
  return fits ? accept(found) : reject('must list at most 12 whole amounts of US dollars from 1 to 9999, such as 5,20,100')
}

export function registers(value: string): SettingResult<readonly RegisterId[]> {
  const found = splitList(value).map((part) => REGISTER_IDS.find((id) => id === part))
  return found.includes(undefined) || new Set(found).size < found.length
    ? reject(`must list ${REGISTER_IDS.join(', ')}, each at most once, separated by commas`)
    : accept(found.filter((id) => id !== undefined))
}

export function registerUrls(value: string): SettingResult<Partial<Record<RegisterId, string>>> {
  const found: Partial<Record<RegisterId, string>> = {}
  for (const part of splitList(value)) {
    const [, name, url = ''] = /^([a-z-]{1,40})=(.{1,500})$/.exec(part) ?? []
    const id = REGISTER_IDS.find((one) => one === name)
    if (id === undefined || id in found || !isHttpUrl(url) || /[@?#]/.test(url))
      return reject('must list registers with base URLs without user or query, such as gleif=https://mirror.example/api/v1/')
    found[id] = url
  }
  return accept(found)
}

/** The messages never quote a value: URLs often carry keys. */
export function furtherNetworks(value: string): SettingResult<readonly FurtherNetwork[]> {
  const read = readFurtherNetworks(value, limits.further_networks, isHttpUrl)
  return typeof read === 'string' ? reject(read) : accept(read)
}

/** Tokens of ASSAY_ASSETS. USDC is always among them, since prices are in US dollars and not every network has EURC. */
export type Asset = 'usdc' | 'eurc'

export function assets(value: string): SettingResult<readonly Asset[]> {
  const given = splitList(value.toLowerCase())
  const known = (['usdc', 'eurc'] as const).filter((name) => given.includes(name))
  return given.length === known.length && known.includes('usdc') ? accept(known) : reject('must be usdc or usdc,eurc')
}

export function isPostgres(store: string): boolean {
  return store.startsWith('postgres://') || store.startsWith('postgresql://')
}
