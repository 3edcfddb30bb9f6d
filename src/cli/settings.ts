import { readSettings, type Settings } from '../service/config.ts'
import { CliError } from './exit-codes.ts'
import { remark, sandboxMark } from './terminal.ts'

/** The settings of this environment. Throws a CliError that names the variable that is wrong. */
export function settingsHere(): Settings {
  const read = readSettings(process.env)
  if (!read.ok) throw new CliError('config', read.message)
  return read.settings
}

/** Says so on standard error when no real money is behind what follows. */
export function markSandbox(settings: Settings): void {
  if (settings.ASSAY_MODE === 'sandbox') remark(sandboxMark())
}
