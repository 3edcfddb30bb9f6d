import { pino } from 'pino'
import type { Log } from '../../ports/log.ts'
import { limits } from '../../service/limits.ts'

/** Lines of JSON on standard output, written in blocks; `flush` empties the last one at a stop. */
export function createLog(level: 'info' | 'warn' | 'error' | 'silent'): { log: Log; flush(): void } {
  // Where nobody reads the lines, those beyond the bound are lost; the service goes on.
  const destination = pino.destination({ dest: 1, minLength: 32_768, maxWrite: 65_536, maxLength: limits.log_bytes, sync: false })
  const lines = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
  const everySecond = setInterval(() => destination.flush(), 1000)
  everySecond.unref()
  return {
    log: {
      info: (fields, message) => lines.info(fields, message),
      warn: (fields, message) => lines.warn(fields, message),
      error: (fields, message) => lines.error(fields, message),
    },
    flush: () => destination.flushSync(),
  }
}
