import { freeDaily, isPostgres, readSettings, SETTINGS, type Settings } from '../service/config.ts'
import type { Invocation } from './arguments.ts'
import { localOrigin, places } from '../assembly/identity.ts'
import { checksOf, checkProgram, type Check } from './doctor-checks.ts'
import { checkPayments } from './doctor-payments.ts'
import type { Exit } from './exit-codes.ts'
import { markMode } from './settings.ts'
import { shownSetting } from './shown-setting.ts'
import { outcomeMark, paint, printable, say, table, terminalWidth, wantsJson } from './terminal.ts'

interface SettingRow {
  name: string
  value: unknown
  source: 'default' | 'environment'
  meaning: string
}

/** `assay doctor`: the settings that a start would use, and whether what they name is there and works. Nothing is started. */
export async function run(invocation: Invocation): Promise<Exit> {
  const read = readSettings(process.env)
  const settings = read.ok ? settingRows(read.settings) : []
  const first: Check = read.ok
    ? { name: 'settings', state: 'ok', words: 'They agree with one another.' }
    : { name: 'settings', state: 'failed', words: read.message }
  const checks = [
    first,
    ...(await checkProgram()),
    ...(read.ok ? [...(await checksOf(read.settings)), ...(await checkPayments(read.settings))] : []),
  ]
  const ok = checks.every(({ state }) => state !== 'failed')
  if (wantsJson(invocation)) say(JSON.stringify({ ok, mode: read.ok ? read.settings.ASSAY_MODE : null, settings, checks }))
  else {
    if (read.ok) markMode(read.settings)
    say(render(settings, checks))
  }
  return ok ? 'ok' : 'negative'
}

function settingRows(settings: Settings): SettingRow[] {
  const effective = effectiveSettings(settings)
  return (Object.keys(SETTINGS) as (keyof Settings)[]).map((name) => ({
    name,
    value: shownSetting(effective[name]),
    source: (process.env[name] ?? '') === '' ? 'default' : 'environment',
    meaning: SETTINGS[name].meaning,
  }))
}

/** What is used where nothing is set. */
function effectiveSettings(settings: Settings): Settings {
  const address = localOrigin(settings.ASSAY_HOST, settings.ASSAY_PORT)
  return {
    ...settings,
    ASSAY_STORE: places.store(settings),
    ASSAY_FREE_DAILY: freeDaily(settings),
    ASSAY_RECEIPT_KEY_FILE: places.receiptKeys(settings),
    ASSAY_SECRET_FILE: places.secret(settings),
    // With PostgreSQL no log is kept without the file.
    ASSAY_LOG_KEY_FILE: isPostgres(settings.ASSAY_STORE) ? settings.ASSAY_LOG_KEY_FILE : places.logKey(settings),
    ASSAY_BASE_URL: settings.ASSAY_BASE_URL || address,
    ASSAY_API_URL: settings.ASSAY_API_URL || address,
    ASSAY_SITE_URL: settings.ASSAY_SITE_URL || address,
    ASSAY_MCP_URL: settings.ASSAY_MCP_URL || address,
  }
}

function render(settings: readonly SettingRow[], checks: readonly Check[]): string {
  const rows = settings.map(({ name, value, source }) => [name, source === 'default' ? '' : 'set', valueText(value)])
  const marks = { ok: outcomeMark(true, 'ok'), warning: paint('unverifiable', '◐ note'), failed: outcomeMark(false, 'failed') }
  const width = terminalWidth()
  const found = checks.flatMap(({ name, state, words }) => {
    const [head = '', ...rest] = table([[name.padEnd(NAME_CHARS), printable(words)]], width - MARK_CHARS)
    const mark = marks[state] + ' '.repeat(MARK_CHARS - MARK_LENGTHS[state])
    return [mark + head, ...rest.map((line) => ' '.repeat(MARK_CHARS) + line)]
  })
  const blocks = [paint('strong', 'Settings'), ...table(rows, width, ['muted']), '', paint('strong', 'Checks'), ...found]
  return (rows.length === 0 ? blocks.slice(2) : blocks).join('\n').trimStart()
}

const NAME_CHARS = 12
/** The longest mark and two spaces. */
const MARK_CHARS = 10
const MARK_LENGTHS = { ok: 4, warning: 6, failed: 8 } as const

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : printable(value.join(', '))
  return typeof value === 'string' ? printable(value) || '(none)' : JSON.stringify(value)
}
