import { ADMISSION_RULES } from './rules.ts'

/** How much begins in one turn of the event loop, when nobody pays and while somebody does. */
interface Pace {
  most: number
  beside_payers: number
}

/**
 * Lets only so many begin in one turn of the event loop, in their order, so that a turn stays short and nobody who pays waits
 * behind a crowd. What waits is bounded by the gate, and by the connections. It slows nobody down while few come at once.
 */
export interface Pacer {
  /** Null when the call may begin at once. */
  begin(): Promise<void> | null
  waiting(): number
}

export interface PacerParts {
  /** Whether somebody pays now. */
  payers(): boolean
  /** Calls back in the next turn of the loop. */
  nextTurn(step: () => void): void
}

export function createPacer({ payers, nextTurn }: PacerParts, { most, beside_payers }: Pace): Pacer {
  let begun = 0
  let asked = false
  let waiting: (() => void)[] = []
  const share = () => (payers() ? beside_payers : most)
  const ask = () => {
    if (asked) return
    asked = true
    nextTurn(turn)
  }
  const turn = () => {
    asked = false
    begun = 0
    if (waiting.length === 0) return
    const now = waiting.slice(0, share())
    waiting = waiting.slice(now.length)
    begun = now.length
    ask()
    for (const go of now) go()
  }
  return {
    begin() {
      ask()
      if (waiting.length === 0 && begun < share()) {
        begun++
        return null
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    waiting: () => waiting.length,
  }
}

/** Who stands in which row: free calls, readers of pages and documents, and who asks whether all is well or for what was paid. */
export type Row = keyof typeof ADMISSION_RULES.turns

export function createRows(parts: PacerParts): Record<Row, Pacer> {
  const { calls, reads, probes } = ADMISSION_RULES.turns
  return {
    calls: createPacer(parts, calls),
    reads: createPacer(parts, reads),
    probes: createPacer(parts, probes),
  }
}
