import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 250

/**
 * Resolves when the question is answered with yes; rejects after the bound, in milliseconds, naming what was waited for. The pause between
 * two questions is a tenth of the time waited so far, so that a long wait leaves the processors to what it waits for.
 */
export async function until(what: string, question: () => boolean | Promise<boolean>, bound_ms = 20_000): Promise<void> {
  const start_ms = performance.now()
  while (!(await question())) {
    const waited_ms = performance.now() - start_ms
    if (waited_ms > bound_ms) throw new Error(`${what}: not within ${bound_ms} ms`)
    await delay(Math.min(Math.max(waited_ms / 10, FIRST_PAUSE_MS), LONGEST_PAUSE_MS))
  }
}

/** Whether a process runs; one that has ended and waits for its parent to notice does not. */
export function running(pid: number): boolean {
  if (existsSync('/proc/self/cmdline')) {
    const command_line = `/proc/${pid}/cmdline`
    try {
      return readFileSync(command_line, 'utf8') !== ''
    } catch {
      return false
    }
  }
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
