import { networkOf, NETWORKS } from '../pure/networks.ts'

import { REGISTER_IDS } from './limits.ts'
import { nearestName } from './catalogue/search.ts'
import { type Settings, SETTINGS, isPostgres } from './config.ts'

type SettingName = keyof Settings

type SettingsRead = { ok: true; settings: Settings } | { ok: false; message: string }

/** Reads the settings; the message is one sentence that names the variable and the fix. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): SettingsRead {
  const names = Object.keys(SETTINGS) as SettingName[]
  const unknown = Object.keys(environment).find((name) => name.startsWith('ASSAY_') && !(name in SETTINGS))
  if (unknown !== undefined) return { ok: false, message: unknownSetting(unknown, names) }
  const found: Record<string, unknown> = {}
  for (const name of names) {
    const given = environment[name]
    if (given === undefined || given === '') {
      found[name] = SETTINGS[name].fallback
      continue
    }
    const result = SETTINGS[name].read(given)
    if (!result.ok) return { ok: false, message: `${name} ${result.message}.` }
    found[name] = result.value
  }
  return checkTogether(found as Settings)
}

function unknownSetting(name: string, known: SettingName[]): string {
  const near = nearestName(name, known)
  return `${name} is not a setting of this service${near === null ? '; "assay doctor" lists them' : `; did you mean ${near}`}.`
}

const LIVE_ONLY = ['ASSAY_RPC_URLS', 'ASSAY_PAY_TO', 'ASSAY_GAS_KEY_FILE', 'ASSAY_FACILITATOR_URLS', 'ASSAY_NETWORKS'] as const

const [LIVE] = NETWORKS
const SANDBOX = NETWORKS.find(({ is_testnet }) => is_testnet) ?? LIVE

/** Checks that the settings do not contradict one another, and fills in the defaults that depend on other settings. */
function checkTogether(settings: Settings): SettingsRead {
  const live = settings.ASSAY_MODE === 'live'
  const stray = live ? undefined : LIVE_ONLY.find((name) => settings[name].length > 0)
  if (stray !== undefined) return { ok: false, message: `${stray} is set, but ASSAY_MODE is sandbox; set ASSAY_MODE=live or remove it.` }
  if (live && settings.ASSAY_WEBHOOK_LOOPBACK === 'on')
    return { ok: false, message: 'ASSAY_WEBHOOK_LOOPBACK is on, which only a sandbox allows; remove it or set it to off.' }
  const missing = live ? missingLive(settings) : null
  if (missing !== null) return { ok: false, message: missing }
  const bank = settings.ASSAY_BANK_IBAN === '' ? bankDetailWithoutIban(settings) : undefined
  if (bank !== undefined) return { ok: false, message: `${bank} is set without ASSAY_BANK_IBAN; set both or neither.` }
  if ((settings.ASSAY_STRIPE_SECRET_KEY_FILE === '') !== (settings.ASSAY_STRIPE_WEBHOOK_SECRET_FILE === '')) {
    return {
      ok: false,
      message: 'ASSAY_STRIPE_SECRET_KEY_FILE and ASSAY_STRIPE_WEBHOOK_SECRET_FILE must be set together; set both or neither.',
    }
  }
  if (isPostgres(settings.ASSAY_STORE)) {
    const file = (['ASSAY_RECEIPT_KEY_FILE', 'ASSAY_SECRET_FILE'] as const).find((name) => settings[name] === '')
    if (file !== undefined) return { ok: false, message: `${file} must be set with a PostgreSQL store, since all instances share it.` }
  }
  const ASSAY_CHAIN_ID = settings.ASSAY_CHAIN_ID || (live ? LIVE : SANDBOX).chain_id
  const fault = networksFault(settings, ASSAY_CHAIN_ID) ?? registersFault(settings)
  if (fault !== null) return { ok: false, message: fault }
  const { ASSAY_PORT } = settings
  const ASSAY_ADMIN_PORT = settings.ASSAY_ADMIN_PORT === '' ? ASSAY_PORT && ASSAY_PORT + 1 : settings.ASSAY_ADMIN_PORT
  if (ASSAY_ADMIN_PORT === 65_536)
    return {
      ok: false,
      message: 'ASSAY_ADMIN_PORT must be set to a port or off: its default, ASSAY_PORT + 1, is not a port when ASSAY_PORT is 65535.',
    }
  if (ASSAY_ADMIN_PORT === ASSAY_PORT && ASSAY_ADMIN_PORT !== 0)
    return { ok: false, message: 'ASSAY_ADMIN_PORT must differ from ASSAY_PORT; leave it out to use ASSAY_PORT + 1.' }
  const ASSAY_BATCH_SETTLEMENT = settings.ASSAY_BATCH_SETTLEMENT ?? (live ? 'off' : 'on')
  const ASSAY_WEBHOOK_LOOPBACK = settings.ASSAY_WEBHOOK_LOOPBACK || (live ? 'off' : 'on')
  return { ok: true, settings: { ...settings, ASSAY_CHAIN_ID, ASSAY_ADMIN_PORT, ASSAY_BATCH_SETTLEMENT, ASSAY_WEBHOOK_LOOPBACK } }
}

function registersFault({ ASSAY_REGISTERS, ASSAY_REGISTER_URLS, ASSAY_COMPANIES_HOUSE_KEY_FILE }: Settings): string | null {
  const stray = REGISTER_IDS.find((id) => id in ASSAY_REGISTER_URLS && !ASSAY_REGISTERS.includes(id))
  if (stray !== undefined) return `ASSAY_REGISTER_URLS names ${stray}, which is not in ASSAY_REGISTERS; add it there or remove the URL.`
  return ASSAY_REGISTERS.includes('companies-house') === (ASSAY_COMPANIES_HOUSE_KEY_FILE !== '')
    ? null
    : 'ASSAY_COMPANIES_HOUSE_KEY_FILE and companies-house in ASSAY_REGISTERS must be set together; set both or neither.'
}

/** Contradiction between further networks and the rest; null for none. Tokens without value must not pay where others have value. */
function networksFault({ ASSAY_NETWORKS }: Settings, primary: number): string | null {
  const is_testnet = networkOf(primary)?.is_testnet
  for (const { chain_id } of ASSAY_NETWORKS) {
    if (chain_id === primary) return `ASSAY_NETWORKS names chain ${chain_id}, which is ASSAY_CHAIN_ID already; list further networks only.`
    if (networkOf(chain_id)?.is_testnet !== is_testnet)
      return `ASSAY_NETWORKS names chain ${chain_id}, but ASSAY_CHAIN_ID is ${primary}; test networks and others cannot be offered together.`
  }
  return null
}

const BANK_DETAILS = ['ASSAY_BANK_NAME', 'ASSAY_BANK_BIC', 'ASSAY_BANK_INSTITUTION', 'ASSAY_BANK_MERCHANTS', 'ASSAY_BANK_CURRENCY'] as const

/** First bank detail that is set although ASSAY_BANK_IBAN is not. */
function bankDetailWithoutIban(settings: Settings): SettingName | undefined {
  return BANK_DETAILS.find((name) => settings[name].length > 0 && settings[name] !== SETTINGS[name].fallback)
}

function missingLive(settings: Settings): string | null {
  if (settings.ASSAY_RPC_URLS.length === 0) return 'ASSAY_RPC_URLS must name at least one RPC endpoint in live mode.'
  if (settings.ASSAY_PAY_TO === '') return 'ASSAY_PAY_TO must name the address that is paid in live mode.'
  const gas = settings.ASSAY_GAS_KEY_FILE !== ''
  const facilitators = settings.ASSAY_FACILITATOR_URLS.length > 0
  if (gas === facilitators) return 'Live mode needs either ASSAY_GAS_KEY_FILE or ASSAY_FACILITATOR_URLS, and not both.'
  return null
}
