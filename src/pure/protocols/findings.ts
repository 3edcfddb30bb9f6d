import type { Place } from './place.ts'
import type { FindingMore, Report, RuleHead, Severity, SpecReference } from './rule.ts'

/** What is wrong, where, and what to do. It never holds a value of the document. */
export interface Finding {
  code: string
  severity: Severity
  /** RFC 6901; empty for the whole document. */
  path: string
  message: string
  hint: string
  spec: SpecReference
  expected?: string
}

/** Findings that one answer holds, and findings of one code and severity in it. */
const MOST_FINDINGS = 200
const MOST_OF_ONE = 40

/** Gathers findings. Beyond the bounds they are counted and no longer kept; errors push out warnings, never the other way. */
export class Findings {
  private readonly kept: Record<Severity, Finding[]> = { error: [], warning: [] }
  private readonly seen = new Map<string, number>()
  private dropped = false
  readonly counts: Record<Severity, number> = { error: 0, warning: 0 }

  /** The reporter of one rule. */
  reportOf(rule: RuleHead): Report {
    return {
      error: (place, message, more) => this.add(rule, 'error', place, message, more),
      warning: (place, message, more) => this.add(rule, 'warning', place, message, more),
    }
  }

  private add(rule: RuleHead, severity: Severity, place: Place, words: string, { expected, hint }: FindingMore = {}): void {
    const { code, spec } = rule
    const key = `${code} ${severity}`
    const count = (this.seen.get(key) ?? 0) + 1
    this.seen.set(key, count)
    this.counts[severity]++
    const list = this.kept[severity]
    if (count > MOST_OF_ONE || list.length === MOST_FINDINGS) {
      this.dropped = true
      return
    }
    const message = `${place.label} ${words}.`
    list.push({
      code,
      severity,
      path: place.path(),
      message,
      hint: hint ?? caseHint(rule, place, words, expected) ?? rule.hint,
      spec,
      ...(expected === undefined ? {} : { expected }),
    })
  }

  /** At most 200 together, errors first. */
  result(): { errors: Finding[]; warnings: Finding[]; truncated: boolean } {
    const errors = this.kept.error
    const warnings = this.kept.warning.slice(0, MOST_FINDINGS - errors.length)
    return { errors, warnings, truncated: this.dropped || warnings.length < this.kept.warning.length }
  }
}

/** What to do about one member, by what was expected of it. */
function caseHint({ hint_by_case }: RuleHead, place: Place, words: string, expected: string | undefined): string | null {
  if (hint_by_case !== true || expected === undefined || place.parent === null) return null
  const name = place.label.replace(/^Item /, 'item ').replace(/^This member$/, 'this member')
  return words.startsWith('is missing') ? `Add ${name}: ${expected}.` : `Send ${name} as ${expected}.`
}
