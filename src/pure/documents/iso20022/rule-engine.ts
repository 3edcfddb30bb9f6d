/**
 * How the rules of a message are written. A message is a `MessageDefinition`: its structure table, and a function that makes a `Watcher` for
 * one run. The machine walks the document once and calls the watcher in document order; the watcher keeps totals and flags, never a tree,
 * and reports. `pain/` is the pattern: `structure.ts`, and watchers that hold the state; the rows of its rules stand in `rule-table.ts`.
 *
 * Keys of a watcher name elements:
 *   'GrpHdr/MsgId'      the path below the message's root element ('' is the root element itself)
 *   '** /DbtrAcct/Id'   (without the space) any path that ends so
 *   ':Address'          any element of that type of the structure table, ':Address/TwnNm' that child of it
 *
 * `open` is called when the element begins, `close` when it ends (then `has` tells which children it had), `text` with a value whose form
 * is right; a value that is wrong by its form has been reported and reaches no watcher, so that one fault makes one finding. For an amount,
 * `amount` and `currency` hold what was read. A rule on several values remembers a `place()` where it wants to point.
 *
 * Findings are weighed at the end: report every breach, whatever the profile; the rule table decides what it weighs where.
 */
import type { AmountText, ExactSum } from './decimal.ts'
import type { Details, Place } from './findings.ts'
import type { MessageKind } from './rule.ts'
import type { RuleCode } from './rule-table.ts'
import type { TypeTable } from './schema.ts'

/** The business application header, as far as rules look at it; null where it says nothing. */
export interface BusinessHeader {
  present: boolean
  business_service: string | null
  message_definition: string | null
  message_id: string | null
  priority: string | null
  /** Whether the header marks a copy or a possible duplicate. */
  copy: boolean
  from_bic: string | null
  to_bic: string | null
}

/** What the answer says of the whole message. */
export interface Totals {
  message_id: string | null
  /** When the message was made, as it stands there. */
  created: string | null
  transactions: number
  /** Of the amounts that the control sum covers, across currencies. */
  readonly sum: ExactSum
  readonly currencies: Set<string>
  /** Whether an amount could not be read, so that the sum says nothing. */
  unreadable: boolean
  /** The service level that was stated first: one way to the profile. */
  service_level: string | null
}

export interface RuleContext {
  readonly version: number
  readonly header: Readonly<BusinessHeader>
  readonly totals: Totals
  /** The amount that `text` is being told of, and its currency. */
  readonly amount: AmountText
  readonly currency: string
  /** Reports at the element that is being told of. */
  report(code: RuleCode, details?: Details): void
  reportAt(place: Place, code: RuleCode, details?: Details): void
  /** Where the element that is being told of stands. Makes a text: not for what is called a million times. */
  place(): Place
  /** Within `close`: whether the element had this child. */
  has(child: string): boolean
}

export interface Watcher {
  readonly open?: Readonly<Record<string, () => void>>
  readonly text?: Readonly<Record<string, (text: string) => void>>
  readonly close?: Readonly<Record<string, () => void>>
}

/** Rules that speak in place of the general ones; keys are paths as above, exact ones only. */
export interface Overrides {
  /** Something that is missing inside this element, in place of STRUCT_MISSING. */
  readonly missing?: Readonly<Record<string, RuleCode>>
  /** An element that does not belong inside this element, in place of STRUCT_UNEXPECTED. */
  readonly unexpected?: Readonly<Record<string, RuleCode>>
  /** A value of nothing but white space, in place of STRUCT_LEXICAL. */
  readonly empty?: Readonly<Record<string, RuleCode>>
  /** Any other value that is wrong by its form, in place of STRUCT_LEXICAL. */
  readonly lexical?: Readonly<Record<string, RuleCode>>
}

export interface MessageDefinition {
  readonly kind: MessageKind
  /** The element inside Document. */
  readonly root: string
  /** Versions, and the year of the shared types of each. */
  readonly versions: ReadonlyMap<number, number>
  readonly types: TypeTable
  readonly overrides: Overrides
  watch(context: RuleContext): readonly Watcher[]
}
