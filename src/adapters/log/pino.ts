import { pino } from 'pino'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { limits } from '../../service/limits.ts'

/** Lines that are passed to the stream together: each write measures the whole buffer again. */
const LINES = 64

/** Lines of JSON on standard output, written in blocks; `flush` empties the last one at a stop. */
export function createLog(level: 'info' | 'warn' | 'error' | 'silent', clock: Clock): { log: Log; flush(): void } {
  const gathered: string[] = []
  // Registered before the stream, which writes out what it holds when the process exits.
  process.once('exit', handOn)
  // When the log is not read, lines beyond the bound are lost; the service continues.
  const destination = pino.destination({ dest: 1, minLength: 32_768, maxWrite: 65_536, maxLength: limits.log_bytes, sync: false })
  function handOn(): void {
    if (gathered.length > 0) destination.write(gathered.splice(0).join(''))
  }
  const write = (line: string) => {
    if (gathered.push(line) >= LINES) handOn()
  }
  const lines = pino({ level, base: null, timestamp: timeMember(clock) }, { write })
  const everySecond = setInterval(() => {
    handOn()
    destination.flush()
  }, 1000)
  everySecond.unref()
  return {
    log: {
      info: (fields, message) => lines.info(fields, message),
      warn: (fields, message) => lines.warn(fields, message),
      error: (fields, message) => lines.error(fields, message),
    },
    flush() {
      process.off('exit', handOn)
      handOn()
      destination.flushSync()
    },
  }
}

/** The time of a line as pino writes it in ISO 8601, made once for all lines of a millisecond. */
function timeMember(clock: Clock): () => string {
  let made = { ms: Number.NaN, member: '' }
  return () => {
    const ms = clock.now_ms()
    if (ms !== made.ms) made = { ms, member: `,"time":"${new Date(ms).toISOString()}"` }
    return made.member
  }
}
