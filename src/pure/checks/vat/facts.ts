import type { Part } from '../check-result.ts'
import { passesFor, schemesFor, VAT_COUNTRIES, type VatCountry } from './countries.ts'
import { entityHint } from './hints.ts'
import type { VatReading } from './read.ts'
import { accepts, at, decimal, type LengthRule } from './rule.ts'

export interface VatFacts {
  /** ISO 3166 code: GR for EL, GB for XI; null when the prefix is of no country that we know. */
  country: string | null
  country_name: string | null
  /** The code in front of the number: EL for Greece. */
  prefix: string | null
  eu_member: boolean
  /** What the country calls the tax, and the number. */
  tax_name: string | null
  number_name: string | null
  /** From here on null unless the number passes. */
  entity_hint: string | null
  /** The calculation that held; null for numbers without a public one. */
  scheme: string | null
  /** The Belgian enterprise number (KBO/BCE), which the VAT number is. */
  enterprise_number: string | null
  /** The French SIREN inside the number; null for Monaco. */
  siren: string | null
  /** What the Commission's VIES service is asked with; null for countries and numbers that it does not take. */
  vies: { country_code: string; number: string } | null
  print_form: string | null
  /** Other prefixes under which a number without prefix would pass. */
  also_passes: string[]
  parts: Part[]
}

const ISO: Readonly<Record<string, string>> = { EL: 'GR', XI: 'GB' }
/** No format is longer. */
const NUMBER_CHARS = 16
const scratch = new Uint8Array(NUMBER_CHARS)

/** Fills `into` with the values of the characters and returns their number; -1 when one has no value or they do not fit. */
export function fillValues(text: string, into: Uint8Array): number {
  if (text.length > into.length) return -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0x30 && code <= 0x39) into[index] = code - 0x30
    else if (code >= 0x41 && code <= 0x5a) into[index] = code - 0x37
    else if (code === 0x2b) into[index] = 36
    else if (code === 0x2a) into[index] = 37
    else return -1
  }
  return text.length
}

/** The Romanian personal code of a natural person, which VIES does not take. */
export function isPersonalCode({ country, number }: VatReading): boolean {
  return country?.code === 'RO' && number.length === 13
}

/** Whether text without prefix passes for this country. */
export function numberPasses(country: VatCountry, number: string): boolean {
  const length = fillValues(number, scratch)
  return length > 0 && passesFor(country, scratch, length)
}

export function alsoPasses(reading: VatReading): string[] {
  if (!reading.bare && reading.country !== null) return []
  const text = reading.country === null ? reading.value : reading.given
  const others = VAT_COUNTRIES.filter((country) => country !== reading.country && numberPasses(country, text))
  return others.map(({ code, prefixes }) => prefixes[0] ?? code)
}

/** All that a number tells whose length and characters fit; less when it does not pass. */
export function vatFacts(reading: VatReading, rule: LengthRule | null, values: Uint8Array, passes: boolean): VatFacts {
  const { country, number } = reading
  const scheme =
    country === null || rule === null || !passes ? null : (schemesFor(rule, values).find((one) => accepts(one, values)) ?? null)
  return {
    country: country === null ? null : (ISO[country.code] ?? country.code),
    country_name: country?.name ?? null,
    prefix: country === null ? null : (country.prefixes[0] ?? null),
    eu_member: country?.eu_member ?? false,
    tax_name: country?.tax_name ?? null,
    number_name: country?.number_name ?? null,
    entity_hint: passes && country !== null ? entityHint(country.code, number, scheme?.name ?? null) : null,
    scheme: scheme?.name ?? null,
    enterprise_number: passes && country?.code === 'BE' ? template('####.###.###', number) : null,
    siren: passes && country?.code === 'FR' && decimal(values, 2, 5) > 0 ? number.slice(2) : null,
    vies: passes && country !== null && country.vies !== null && !isPersonalCode(reading) ? { country_code: country.vies, number } : null,
    print_form: passes && country !== null ? printForm(reading, country) : null,
    also_passes: alsoPasses(reading),
    parts: partsOf(reading, rule, values),
  }
}

function template(form: string, number: string): string {
  let next = 0
  return form.replace(/#/g, () => number.charAt(next++))
}

function printForm({ number, suffix }: VatReading, country: VatCountry): string {
  const form = country.print
  const grouped = form === null || form.split('#').length - 1 !== number.length ? null : template(form, number)
  const text = grouped ?? `${country.prefixes[0] ?? ''}${number}`
  return suffix === null ? text : `${text} ${suffix}`
}

/** Prefix, number and check characters where they stand in the value. */
function partsOf({ prefix, number }: VatReading, rule: LengthRule | null, values: Uint8Array): Part[] {
  if (rule === null) return []
  const scheme = schemesFor(rule, values).find((one) => accepts(one, values)) ?? schemesFor(rule, values)[0]
  const [start, end] = scheme === undefined ? [number.length, number.length] : [scheme.start, scheme.end]
  const spans: [label: string, start: number, end: number][] = [
    ['prefix', -prefix.length, 0],
    ['number', 0, start],
    ['check', start, end],
    [start === 0 ? 'number' : at(values, end) > 9 ? 'suffix' : 'rest', end, number.length],
  ]
  return spans
    .filter(([, from, to]) => from < to)
    .map(([label, from, to]) => ({ label, start: prefix.length + from, end: prefix.length + to }))
}
