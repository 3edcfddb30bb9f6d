import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageProfile, RuleCode } from '../../src/pure/documents/iso20022/rules.ts'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { painMessage, type PainOptions, swap } from './iso20022-messages.ts'

/** One message that keeps a rule and one that breaks it and nothing else. */
export interface RuleCase {
  code: RuleCode
  /** What is done to the clean message, text for text, in order. */
  changes: readonly (readonly [from: string, to: string])[]
  /** The same for the message that keeps the rule; none when the clean message does. */
  keeps?: readonly (readonly [from: string, to: string])[]
  profile?: MessageProfile
  message?: PainOptions
  /** The document itself, where it is not one of pain.001. */
  document?: string
  namespace?: string
  severity?: 'error' | 'warning' | 'info'
  /** What findings carry, when it is not the code of the rule. */
  shown?: string
  /** Part of the path of the finding. */
  at?: string
}

export function codesOf(payload: string, profile: MessageProfile | null = 'base', namespace: string | null = null): string[] {
  return [...new Set(validateMessage({ payload, profile, namespace }).findings.map(({ code }) => code))].toSorted()
}

export function ruleTests(cases: readonly RuleCase[]): void {
  cases.forEach((one, index) => {
    test(`${one.code} (${index + 1}): one message keeps it, one breaks it and nothing else`, () => {
      const clean = one.document ?? painMessage(one.message)
      const profile = one.profile ?? 'base'
      assert.deepEqual(codesOf(changed(clean, one.keeps ?? []), profile), [], 'the clean message is not clean')
      const namespace = one.namespace ?? null
      const { findings, valid } = validateMessage({ payload: changed(clean, one.changes), profile, namespace })
      const shown = one.shown ?? one.code
      assert.deepEqual([...new Set(findings.map(({ code }) => code))], [shown])
      const severity = one.severity ?? 'error'
      assert.ok(findings.every((found) => found.severity === severity))
      // A message that is not known is neither valid nor invalid.
      assert.equal(valid, one.code === 'NS_UNKNOWN' ? null : severity !== 'error')
      assert.ok(findings.every(({ line }) => line !== null && line > 0))
      if (one.at !== undefined) assert.ok(findings[0]?.path.endsWith(one.at), `the path is ${findings[0]?.path}`)
    })
  })
}

function changed(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((before, [from, to]) => swap(before, from, to), text)
}
