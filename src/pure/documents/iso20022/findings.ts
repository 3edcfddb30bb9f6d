/** What a message is found to break, gathered while the profile is still unknown and weighed at the end. */
import type { Profile, Severity } from './rule.ts'
import { type RuleCode, RULES } from './rule-table.ts'

export interface Finding {
  code: string
  severity: Severity
  /** Element path with positions of repeated elements, from 1; a JSON pointer in the list of transactions. */
  path: string
  /** From 1; null where the input has no lines of its own. */
  line: number | null
  /** What stands there: at most 64 characters, cleaned; null when nothing does. */
  found: string | null
  expected: string | null
  message: string
}

export interface Place {
  path: string
  line: number | null
}

/** What stands there and what should; `message` replaces the rule's own line. */
export interface Details {
  found?: string | null
  expected?: string | null
  message?: string
}

export interface WeighedFindings {
  findings: Finding[]
  finding_counts: Record<Severity, number>
  /** Whether there were more findings than are listed. */
  truncated: boolean
}

const LISTED = 200
const FOUND_CHARS = 64

interface Kept extends Omit<Finding, 'code' | 'severity'> {
  rule: RuleCode
}

/** Keeps the first findings of each rule, and counts all. */
export class Findings {
  private readonly kept: Kept[] = []
  private readonly counts = new Map<RuleCode, number>()

  /** Whether a further finding of this rule would be kept; saves the work of describing it. */
  count(rule: RuleCode): boolean {
    const before = this.counts.get(rule) ?? 0
    this.counts.set(rule, before + 1)
    return before < LISTED
  }

  add(rule: RuleCode, place: Place, details: Details = {}): void {
    if (this.count(rule)) this.keep(rule, place, details)
  }

  /** After `count` has said yes. */
  keep(rule: RuleCode, { path, line }: Place, { found = null, expected = null, message }: Details): void {
    const shown = found === null ? null : shownText(found)
    this.kept.push({ rule, path, line, found: shown, expected, message: message ?? RULES[rule].why })
  }

  weigh(profile: Profile): WeighedFindings {
    const finding_counts = { error: 0, warning: 0, info: 0 }
    for (const [rule, count] of this.counts) {
      const severity = RULES[rule].weights[profile]
      if (severity !== null) finding_counts[severity] += count
    }
    const findings = this.kept.flatMap((kept) => weighed(kept, profile))
    const total = finding_counts.error + finding_counts.warning + finding_counts.info
    return { findings: listed(findings), finding_counts, truncated: total > LISTED }
  }
}

/** Errors are listed before a flood of lesser findings drowns them; each severity in document order. */
function listed(findings: Finding[]): Finding[] {
  if (findings.length <= LISTED) return findings
  const order: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }
  return findings.toSorted((one, other) => order[one.severity] - order[other.severity]).slice(0, LISTED)
}

function weighed({ rule, ...rest }: Kept, profile: Profile): Finding[] {
  const { weights, shown } = RULES[rule]
  const severity = weights[profile]
  return severity === null ? [] : [{ code: shown ?? rule, severity, ...rest }]
}

/** Text of strangers as it may be shown: short, without control, format and direction characters. */
export function shownText(text: string): string {
  const short = text.slice(0, FOUND_CHARS * 2).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD')
  const characters = Array.from(short)
  return characters.length <= FOUND_CHARS ? short : `${characters.slice(0, FOUND_CHARS - 1).join('')}…`
}
