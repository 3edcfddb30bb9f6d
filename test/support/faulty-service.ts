import { readSettings } from '../../src/service/read-settings.ts'
import { CHANNEL_FAULT_POINTS, FAULT_POINTS } from '../../src/service/payments/settlement.ts'
import { euroPrices } from './sources.ts'
import { start } from '../../src/assembly/start.ts'

/**
 * The service as a process that kills itself, without a farewell, when it comes to the step that DIE_AT names for the DIE_NTH time (the
 * first unless told otherwise). EURC costs EURO_RATE US dollars. AHEAD_MS puts the clock of the machine forward for this process, for tests that have no minute to wait.
 * Everything else is the service as it is.
 */
const { DIE_AT, DIE_NTH = '1', AHEAD_MS = '0', EURO_RATE, ...environment } = process.env
const point = [...FAULT_POINTS, ...CHANNEL_FAULT_POINTS].find((known) => known === DIE_AT)
if (DIE_AT !== undefined && point === undefined) throw new Error(`${DIE_AT} is no fault point`)

const machineNow = Date.now
Date.now = () => machineNow() + Number(AHEAD_MS)

const read = readSettings(environment)
if (!read.ok) throw new Error(read.message)
let reached = 0
const running = await start(read.settings, {
  ...(EURO_RATE !== undefined && { prices: euroPrices(() => EURO_RATE) }),
  reach: (met) => {
    if (met !== point || ++reached < Number(DIE_NTH)) return Promise.resolve()
    process.kill(process.pid, 'SIGKILL')
    // A signal to oneself arrives at once; nothing after this line runs.
    return new Promise(() => undefined)
  },
})
process.on('SIGTERM', () => void running.stop().then(() => process.exit()))
// The pipe ends when the test that started it is killed: no service is ever left behind.
process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGKILL'))
process.stderr.write(`assay listens on ${running.url}\n`)
