import { characterFindings } from './characters.ts'
import { finding, lengthFinding, type Part } from './check-result.ts'
import { strangers } from './digits.ts'
import type { Finding } from './verdict.ts'

/** Kinds of character in a layout: the noun for people, and the range of ASCII codes. */
const KINDS = {
  N: { one: 'a digit', many: 'digits', least: 0x30, most: 0x39 },
  A: { one: 'a letter', many: 'letters', least: 0x41, most: 0x5a },
  X: { one: 'a letter or digit', many: 'letters or digits', least: 0x30, most: 0x5a },
  Z: { one: 'the digit 0', many: 'zeros', least: 0x30, most: 0x30 },
} as const
const COUNTS = ['', '', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

type Labels<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? Labels<First> | Labels<Rest>
  : Text extends `${infer Label}:${string}`
    ? Label
    : never

interface Segment<Label extends string> extends Part {
  label: Label
}

/** Characters that a part takes. */
interface Kind {
  part: Part
  expected: string
  least: number
  most: number
}

/** Fixed format of an identifier, read from one text. */
interface Layout<Label extends string = string> {
  /** Name of the whole value in findings. */
  field: string
  length: number
  /** Parts in order; together they cover the whole value. */
  parts: readonly Segment<Label>[]
  /** Place of each part. */
  at: Readonly<Record<Label, Part>>
  /** Of parts that take only some letters and digits. */
  kinds: readonly Kind[]
  /** Every part consists of digits. */
  digits: boolean
}

/**
 * Reads a layout: the parts in order as `label:count` and the kind of their characters, for example `lou:4X entity:14X check:2N`.
 * Kinds: N digits, A letters, X letters or digits, Z zeros.
 */
export function layout<const Text extends string>(field: string, text: Text): Layout<Labels<Text>> {
  let end = 0
  const kinds = text.split(' ').map((segment) => {
    const [label = '', size = ''] = segment.split(':')
    const start = end
    const count = Number.parseInt(size, 10)
    end += count
    const { one, many, least, most } = KINDS[size.slice(-1) as keyof typeof KINDS]
    const part = Object.freeze({ label: label as Labels<Text>, start, end })
    return { part, expected: count === 1 ? one : `${COUNTS[count] ?? count} ${many}`, least, most }
  })
  const parts = kinds.map(({ part }) => part)
  const at: Record<string, Part> = Object.fromEntries(parts.map((part) => [part.label, part]))
  return {
    field,
    length: end,
    parts,
    at: at as Record<Labels<Text>, Part>,
    kinds: kinds.filter(({ least, most }) => least !== KINDS.X.least || most !== KINDS.X.most),
    digits: kinds.every(({ most }) => most <= KINDS.N.most),
  }
}

/** Text of a part of the value. */
export function partText({ start, end }: Part, value: string): string {
  return value.slice(start, end)
}

/** Findings about characters that the identifier never has; without any, about the length. `hint` explains a wrong length. */
export function layoutFindings(
  { field, length, digits }: Layout,
  value: string,
  hint: (value: string) => string | null = () => null,
): Finding[] {
  const foreign = digits ? strangers(value, field, /[^0-9]+/gu, 'digits 0-9') : characterFindings(value, field)
  if (foreign.length > 0 || value.length === length) return foreign
  return [lengthFinding(field, value, `${length} ${digits ? 'digits' : 'characters'}`, { hint: hint(value) })]
}

/** A finding for each part whose characters are of the wrong kind; for values of letters and digits and of the right length. */
export function structureFindings({ kinds }: Layout, value: string): Finding[] {
  const findings: Finding[] = []
  for (const kind of kinds) {
    const { label, start, end } = kind.part
    if (!consistsOf(kind, value)) findings.push(finding('bad_structure', label, { value, start, end }, kind.expected))
  }
  return findings
}

function consistsOf({ part: { start, end }, least, most }: Kind, value: string): boolean {
  for (let index = start; index < end; index++) {
    const code = value.charCodeAt(index)
    if (code < least || code > most) return false
  }
  return true
}

/** A finding about one part of a value. */
export function partFinding<Label extends string>(
  { at }: { at: Readonly<Record<Label, Part>> },
  label: Label,
  value: string,
  code: Finding['code'],
  expected: string | null,
  message?: string,
): Finding {
  return finding(code, label, { value, ...at[label] }, expected, message)
}

/** The finding `bad_checksum` when the part `check` is not the expected one. */
export function checkDigitFindings(
  form: { at: Readonly<Record<'check', Part>> },
  value: string,
  expected: string,
  message?: string,
): Finding[] {
  const { start, end } = form.at.check
  return value.slice(start, end) === expected ? [] : [partFinding(form, 'check', value, 'bad_checksum', expected, message)]
}
