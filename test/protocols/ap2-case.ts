import type { Change, RuleCase } from './harness.ts'

type More = Partial<Pick<RuleCase, 'expected_payee' | 'now_s' | 'also'>>

export const error = (code: string, from: string, change: Change, at?: string, more: More = {}): RuleCase => ({
  code: `AP2-${code}`,
  severity: 'error',
  from,
  change,
  ...(at === undefined ? {} : { at }),
  ...more,
})

export const warning = (code: string, from: string, change: Change, at?: string, more: More = {}): RuleCase => ({
  ...error(code, from, change, at, more),
  severity: 'warning',
})

export const same: Change = (text) => text
