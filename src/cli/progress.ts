import { fstatSync } from 'node:fs'

/** What a long stream says about itself while it runs. */
export interface Progress {
  /** `lines` are done by now; `bytes` more have been read. */
  passed(lines: number, bytes: number): void
  end(lines: number): void
}

export interface ProgressState {
  lines: number
  elapsed_ms: number
  bytes: number
  /** Null when the length of the stream is not known. */
  total_bytes: number | null
}

/** Streams that end sooner show nothing. */
const QUIET_MS = 1_000
const EVERY_MS = 250
const BAR_CHARS = 20
const CLEAR_LINE = '\r\u001b[K'

/** One line on standard error that is drawn again and again; nothing at all where no person is looking, or where answers appear there too. */
export function createProgress(): Progress {
  if (!process.stderr.isTTY || process.stdout.isTTY) return { passed: () => undefined, end: () => undefined }
  const total_bytes = stdinBytes()
  const started_ms = performance.now()
  let drawn_ms = started_ms + QUIET_MS - EVERY_MS
  let bytes = 0
  let shown = false
  const draw = (lines: number, elapsed_ms: number, end: string) => {
    process.stderr.write(`${CLEAR_LINE}${progressLine({ lines, elapsed_ms, bytes, total_bytes })}${end}`)
    shown = true
  }
  return {
    passed(lines, more) {
      bytes += more
      const now_ms = performance.now()
      if (now_ms - drawn_ms < EVERY_MS) return
      drawn_ms = now_ms
      draw(lines, now_ms - started_ms, '')
    },
    end(lines) {
      if (shown) draw(lines, performance.now() - started_ms, '\n')
    },
  }
}

/** Length of a regular file on standard input; null for pipes and terminals. */
function stdinBytes(): number | null {
  try {
    const found = fstatSync(0)
    return found.isFile() ? found.size : null
  } catch {
    return null
  }
}

export function progressLine({ lines, elapsed_ms, bytes, total_bytes }: ProgressState): string {
  const rate = Math.round((lines * 1000) / Math.max(1, elapsed_ms))
  const counted = `${grouped(lines)} lines  ${grouped(rate)}/s  ${duration(elapsed_ms)}`
  if (total_bytes === null || total_bytes === 0) return counted
  const share = Math.min(1, bytes / total_bytes)
  const filled = Math.round(share * BAR_CHARS)
  const left = share > 0 ? `  ${duration((elapsed_ms * (1 - share)) / share)} left` : ''
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CHARS - filled)} ${Math.floor(share * 100)} %  ${counted}${share < 1 ? left : ''}`
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`
}
