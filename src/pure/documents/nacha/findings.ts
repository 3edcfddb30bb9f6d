import type { Place } from './layout.ts'
import { NACHA_RULES, type NachaCode, type NachaSeverity } from './rules.ts'
import type { NachaFinding } from './types.ts'
import { shown } from './values.ts'

interface Observation {
  line: number
  place: Place | null
  found?: string
  expected?: string
  severity?: NachaSeverity
}

/** Gathers findings: all are counted, the first ones are kept. */
export class Findings {
  readonly #kept: NachaFinding[] = []
  readonly #counts = new Map<NachaCode, number>()
  readonly #max: number
  #errors = 0
  #all = 0

  constructor(max: number) {
    this.#max = max
  }

  add(code: NachaCode, { line, place, found, expected, severity = NACHA_RULES[code].severity }: Observation): void {
    this.#all++
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1)
    if (severity === 'error') this.#errors++
    if (this.#kept.length >= this.#max) return
    this.#kept.push({
      code,
      severity,
      line,
      field: place?.field ?? 'file',
      positions: place === null ? null : place.from === place.to ? `${place.from}` : `${place.from}-${place.to}`,
      found: found === undefined ? null : shown(found),
      expected: expected === undefined ? null : shown(expected),
      message: NACHA_RULES[code].says,
    })
  }

  /** Whatever was learned only later in the file goes back to its line. */
  report(): { valid: boolean; findings: NachaFinding[]; counts: Partial<Record<NachaCode, number>>; findings_cut: boolean } {
    return {
      valid: this.#errors === 0,
      findings: this.#kept.toSorted((a, b) => a.line - b.line),
      counts: Object.fromEntries(this.#counts),
      findings_cut: this.#all > this.#kept.length,
    }
  }
}
