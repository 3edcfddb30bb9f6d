/** All rules in one table: what the tests go through, and what weighs a finding. */
import { CAMT_RULES } from './camt/rules.ts'
import { PACS_RULES } from './pacs/rules.ts'
import { PAIN_RULES } from './pain/rules.ts'
import type { Rule } from './rule.ts'
import { SHARED_RULES } from './rules.ts'

const TABLE = { ...SHARED_RULES, ...PAIN_RULES, ...PACS_RULES, ...CAMT_RULES } as const

export type RuleCode = keyof typeof TABLE

export const RULES: Readonly<Record<RuleCode, Rule>> = TABLE
