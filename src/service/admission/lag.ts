const TICK_MS = 50
/** One long turn is an accident; a loop is late when it was so this often in a row. */
const READINGS = 3

/** Takes readings of a timer that is due every `every_ms`. Errs downwards: the smallest of the last readings counts. */
export function lagMeter(every_ms: number): { tick(at_ms: number): void; lag_ms(): number } {
  const readings = Array.from({ length: READINGS }, () => 0)
  let due_ms: number | null = null
  let next = 0
  return {
    tick(at_ms) {
      if (due_ms !== null) readings[next++ % READINGS] = Math.max(0, at_ms - due_ms)
      due_ms = at_ms + every_ms
    },
    lag_ms: () => Math.min(...readings),
  }
}

let watched: (() => number) | null = null

/** How late the loop of this process runs. A process has one loop, so it is watched once, from the first question on; it keeps no process alive. */
export function loopLag(): number {
  watched ??= watch()
  return watched()
}

function watch(): () => number {
  const meter = lagMeter(TICK_MS)
  setInterval(() => meter.tick(performance.now()), TICK_MS).unref()
  return meter.lag_ms
}
