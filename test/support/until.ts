import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const LOOK_MS = 10

/** Resolves as soon as the question is answered with yes; rejects after the bound, in milliseconds, naming what was waited for. */
export async function until(what: string, question: () => boolean | Promise<boolean>, bound_ms = 20_000): Promise<void> {
  const deadline = performance.now() + bound_ms
  while (!(await question())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${bound_ms} ms`)
    await delay(LOOK_MS)
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
