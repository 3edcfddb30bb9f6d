/** The service of the `settlement` suite: as `npm start` runs it, but for the gas budget of a day, since anvil asks for a tip of 1 gwei. */
import { orStop } from '../src/assembly/identity.ts'
import { readSettings } from '../src/service/read-settings.ts'
import { start } from '../src/assembly/start.ts'

const DAILY_GAS_WEI = 10n ** 20n

const { settings } = orStop(readSettings(process.env))
const running = await start(settings, { rules: { writer: { daily_gas_wei: DAILY_GAS_WEI } } })
process.once('SIGTERM', () => void running.stop())
process.stderr.write(`assay listens on ${running.url}\n`)
