import SAMPLES from '../../../../../data/samples/preflight.json' with { type: 'json' }
import type { ProtocolId } from '../../../../pure/protocols/protocol.ts'

/** Sample of a protocol: a document that keeps its rules, and what is changed to break some. Members are named by JSON pointer. */
interface Sample {
  correct: unknown
  /** New values; null takes the member away. */
  faults: Readonly<Record<string, unknown>>
  /** Times that follow the clock, in seconds from now: of the document, and of its faulty form. */
  times?: Readonly<Record<string, number>>
  fault_times?: Readonly<Record<string, number>>
  /** Payee that the caller expects; the faulty sample pays a different one. */
  expected_payee?: string
}

export interface SampleText {
  text: string
  expected_payee: string
}

/** The sample of a protocol as people write it, two spaces a level, at this Unix time. */
export function sampleText(protocol: ProtocolId, kind: 'correct' | 'faulty', now_s: number): SampleText {
  const { correct, faults, times, fault_times, expected_payee = '' }: Sample = SAMPLES[protocol]
  const document: unknown = structuredClone(correct)
  const change = (pointer: string, value: (former: unknown) => unknown) => put(document, pointer.split('/').slice(1), value)
  for (const [pointer, after_s] of Object.entries({ ...times, ...(kind === 'faulty' ? fault_times : {}) }))
    change(pointer, (former) => (typeof former === 'number' ? now_s + after_s : timeText(now_s + after_s)))
  if (kind === 'faulty') for (const [pointer, value] of Object.entries(faults)) change(pointer, () => value ?? undefined)
  return { text: JSON.stringify(document, null, 2), expected_payee: kind === 'faulty' ? expected_payee : '' }
}

function put(holder: unknown, [step = '', ...rest]: readonly string[], value: (former: unknown) => unknown): void {
  const members = holder as Record<string, unknown>
  if (rest.length > 0) put(members[step], rest, value)
  else members[step] = value(members[step])
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}
