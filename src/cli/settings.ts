import { modeMark } from '../service/catalogue/text.ts'
import { readSettings, type Settings } from '../service/config.ts'
import { CliError } from './exit-codes.ts'
import { remark } from './terminal.ts'

/** The settings of this environment. Throws a CliError that names the variable that is wrong. */
export function settingsHere(): Settings {
  const read = readSettings(process.env)
  if (!read.ok) throw new CliError('config', read.message)
  return read.settings
}

/** Says so on standard error when no real money is behind what follows. */
export function markMode({ ASSAY_MODE, ASSAY_CHAIN_ID }: Settings): void {
  const mark = modeMark({ mode: ASSAY_MODE, chain_id: ASSAY_CHAIN_ID })
  if (mark !== null) remark(`//// ${mark} ////`)
}
