import { readFileSync, writeFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { until } from './until.ts'

/** A process whose wall clock can be set while it runs; its steady counter goes on as it was. */
export interface ShiftableClock {
  /** For the environment that the process is started with. */
  settings: Record<string, string>
  /** Sets the clock so far ahead of that of the machine, back for less than zero; resolves when the process has done it. */
  shift(child: ChildProcess, ahead_ms: number): Promise<void>
}

const HOUR_MS = 3_600_000
export const AHEAD_MS = HOUR_MS
export const BEHIND_MS = -HOUR_MS

/** `file` is where the order lies that SIGUSR2 makes the process read; its answer is written behind it. */
export function shiftableClock(file: string): ShiftableClock {
  const module = `
    import { appendFileSync, readFileSync } from 'node:fs'
    import { isMainThread } from 'node:worker_threads'
    const machine = Date.now
    const Machine = Date
    let ahead_ms = 0
    class Shifted extends Machine {
      constructor(...given) {
        if (given.length === 0) super(machine() + ahead_ms)
        else super(...given)
      }
      static now() { return machine() + ahead_ms }
    }
    globalThis.Date = Shifted
    const read = () => {
      ahead_ms = Number(readFileSync(${JSON.stringify(file)}, 'utf8'))
      appendFileSync(${JSON.stringify(`${file}.done`)}, ahead_ms + '\\n')
    }
    if (isMainThread) process.on('SIGUSR2', read)`
  return {
    settings: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(module)}` },
    async shift(child, ahead_ms) {
      writeFileSync(`${file}.done`, '')
      writeFileSync(file, String(ahead_ms))
      child.kill('SIGUSR2')
      await until('the clock is set', () => readFileSync(`${file}.done`, 'utf8') === `${ahead_ms}\n`)
    },
  }
}
