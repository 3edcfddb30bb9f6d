import { z } from 'zod'
import type { BlockHeader } from '../../ports/chain.ts'
import { REASON_CODES, type ReasonCode } from '../../pure/checks/verdict.ts'
import { RAILS } from '../../pure/rulebooks/assured.ts'
import { coverageMinor } from '../../pure/rulebooks/pol1-registry.ts'
import { sameAmount } from '../../pure/invoices/input.ts'
import { INVOICE_RULES, limits } from '../limits.ts'

/** Schema parts shared by inputs or answers of several tools. The answer of a check is the wire form of `pure/checks/verdict.ts`. */

const CODES = Object.keys(REASON_CODES) as [ReasonCode, ...ReasonCode[]]

const FINDING = z.strictObject({
  // The closed list is spelled out once, in reason_code: each copy would be sent with each tool of each list.
  code: z.string().describe('What kind of fault: one of the values of reason_code.'),
  field: z.string().describe('The part that is wrong.'),
  position: z
    .tuple([z.int().min(0).max(1_000_000), z.int().min(0).max(1_000_000)])
    .nullable()
    .describe('Half-open range in `normalized`.'),
  expected: z.string().nullable().describe('Expected value or form.'),
  found: z.string().nullable().describe('Value found in the input.'),
  message: z.string().describe('One sentence.'),
})

/** Position of each part of the identifier, so that a page can highlight it. */
export const PARTS = z
  .array(
    z.strictObject({
      label: z.string().describe('Name of the part.'),
      start: z.int().min(0).max(1_000).describe('First character in `normalized`.'),
      end: z.int().min(0).max(1_000).describe('One past the last character.'),
    }),
  )
  .describe('The parts of the value, in order.')

/** The output of a check with these facts. */
export function checkOutput<Facts extends z.ZodObject>(facts: Facts) {
  return z.strictObject({
    valid: z.boolean().describe('True when every rule that was checked holds. It never says that the thing exists.'),
    verdict: z
      .enum(['valid', 'well_formed_unverifiable', 'invalid'])
      .describe('well_formed_unverifiable: no published checksum, list or series confirms a right form.'),
    reason_code: z.enum(['ok', ...CODES]).describe('ok, or the code of the first finding.'),
    reason: z.string().describe('One sentence for people.'),
    normalized: z.string().describe('The value as it was checked.'),
    changes: z.array(z.string()).describe('What normalization altered.'),
    findings: z.array(FINDING).describe('Faults of the earliest stage that failed, or what could not be confirmed.'),
    warnings: z.array(FINDING).describe('Remarks that do not make the value invalid.'),
    expected_check: z.string().nullable().describe('The check characters that the rest calls for.'),
    suggestion: z
      .string()
      .nullable()
      .describe(
        'The one repair that passes, of look-alikes (O/0, I/1, S/5, B/8, Z/2), neighbours swapped and a lost leading zero; or null. Never apply it to a payment unasked.',
      ),
    facts: facts.nullable().describe('What can be read off a well-formed value.'),
  })
}

/** Public sanctions information about the country in a value; a hint, not a screening. */
export const SANCTIONS = z
  .strictObject({
    level: z.enum(['comprehensive', 'elevated']).describe('Nearly everything prohibited, or list-based programmes.'),
    as_of: z.string().describe('Date of the table.'),
  })
  .nullable()
  .describe('OFAC programmes by country code alone, or null. No screening of names.')

/** Dates of the tables that an answer used, by table. */
export const DATA_AS_OF = z
  .record(z.string(), z.string())
  .describe(
    'Publication date of each reference table used, or "compiled <date>" where a person compiled it, and the first digits of its SHA-256.',
  )

/** Screening of a name by the operator's engine. */
export const NAMES_ANSWER = z
  .strictObject({
    status: z
      .enum(['possible_match', 'no_match', 'not_screened'])
      .describe(
        'possible_match: a person must compare. It never says that the named is on a list. not_screened: this service has no engine.',
      ),
    reason: z.string().describe('One sentence for people.'),
    engine: z.string().nullable().describe('watchman or yente; null when the name was not screened.'),
    engine_version: z.string().nullable().describe('Its version, if it states one.'),
    threshold: z.number().min(0).max(1).nullable().describe('Least score of a possible match.'),
    lists: z
      .array(
        z.strictObject({
          name: z.string().describe('List, as the engine names it.'),
          date: z.string().nullable().describe('Day on which the engine loaded or indexed it, or null.'),
          entries: z.int().min(0).max(1_000_000_000).nullable().describe('Its entries, if the engine states them.'),
          age_days: z.int().min(-10_000).max(1_000_000).nullable().describe('Whole days since then.'),
          stale: z.boolean().describe('Older than 30 days, or of an unknown date: "no match" is not relied on.'),
        }),
      )
      .describe('Lists that were searched.'),
    matches: z
      .array(
        z.strictObject({
          name: z.string().describe('The listed name.'),
          score: z.number().min(0).max(1).describe('Likeness as the engine scores it, not a probability.'),
          list: z.string().describe('List of the entry.'),
          id: z.string().describe('Identifier of the entry.'),
          programmes: z.array(z.string()).describe('Programmes of the entry.'),
          birth_dates: z.array(z.string()).describe('Birth dates of the entry.'),
          birth_date: z
            .enum(['agrees', 'differs', 'unknown'])
            .nullable()
            .describe('The given birth date against these; it never clears a match. Null if none was given.'),
          url: z.string().nullable().describe('Page of the entry, or null.'),
        }),
      )
      .describe('The ten best, by score.'),
  })
  .nullable()

/** Identifier or name as an input: any text, since the check says what is wrong with it. */
export const IDENTIFIER = z.string().max(limits.identifier_chars)

/** ISO 3166-1 alpha-2 code as an input, in either case. */
export const COUNTRY_CODE = z
  .string()
  .max(2)
  .regex(/^[A-Za-z]{2}$/)

/** Members of an answer by which its rule book is known. */
export const RULE_BOOK = {
  standard: z.string().describe('The rule book.'),
  policy_hash: z.string().describe('keccak-256 of the canonical text of {standard, table}.'),
}

/** Fields of a call with the name of a party. */
export const NAME_INPUT = {
  name: IDENTIFIER.optional().describe('Name of a person or organisation.'),
  country: COUNTRY_CODE.optional(),
  birth_date: z
    .string()
    .max(10)
    .regex(/^[0-9]{4}(-[0-9]{2}-[0-9]{2})?$/)
    .optional(),
}

/** EVM address as an input: its letters may be of any case; a broken checksum is reported, not refused. */
export const ADDRESS = z
  .string()
  .max(42)
  .regex(/^0x[0-9a-fA-F]{40}$/)

/** Request for a signature in an answer. */
export const SIGN = z
  .record(z.string(), z.unknown())
  .nullable()
  .describe(
    'Signature that is asked for: method, typed data or text, and the request that takes it; GET /v1/signing. Null if there is none.',
  )

const MINOR_CHARS = 30

/** Input fields shared by a quote of the assured lane and its record. */
export const ASSURED_ASKED = z.strictObject({
  notional_minor: z
    .string()
    .max(MINOR_CHARS)
    .regex(/^[1-9][0-9]{0,29}$/)
    .describe('Amount at stake in USDC minor units (1000000 = 1 USD), decimal text.'),
  rail: z.enum(RAILS).describe('Where the money moves; says which evidence settles.'),
  counterparty_tier: z.enum(['T0', 'T1', 'T2', 'T3']).optional().describe('ACI-1 tier; without one the lane escalates.'),
  annual_volume_minor: z
    .string()
    .max(MINOR_CHARS)
    .regex(/^(?:0|[1-9][0-9]{0,29})$/)
    .optional()
    .describe('Committed annual volume in USDC minor units; 0 when absent.'),
  pod_required: z.boolean().optional().describe('Whether a POD-1 delivery mandate applies.'),
})

const COVER_AMOUNT = z
  .union([
    z.number().min(0.000_001).max(1e15),
    z
      .string()
      .max(40)
      .regex(/^(?=[0-9.]*[1-9])[0-9]{1,15}(\.[0-9]{1,18})?$/),
  ])
  .optional()

const COVERED = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9._:-]{1,128}$/)
  .optional()

/** Which sum is to be covered for what. */
export const COVER = z.strictObject({
  amount_usdc: COVER_AMOUNT.describe('The sum to be covered, USDC as number or decimal text. Give this or amount.'),
  amount: COVER_AMOUNT.describe('The same by another name. Where both are given, they must be equal.'),
  tx_hash: z
    .string()
    .max(66)
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .optional()
    .describe('Transaction that is insured.'),
  transaction_id: COVERED.describe('What is insured, by a name of your own.'),
  invoice_id: COVERED.describe('Invoice that is insured.'),
})

const COVER_AMOUNTS = ['amount_usdc', 'amount'] as const

/** The part of `oneCoverAmount` that JSON Schema can express: an object without any of the amounts is refused. */
export const SOME_COVER_AMOUNT = atLeastOne(COVER_AMOUNTS)

/** JSON Schema that refuses an object without any of these fields. */
export function atLeastOne(names: readonly string[]) {
  return { if: { anyOf: names.map((name) => ({ required: [name], properties: { [name]: {} } })) }, else: false }
}

/** Requires one amount; both names may be present only with the same value. */
export function oneCoverAmount({ value, issues }: z.core.ParsePayload<z.output<typeof COVER>>): void {
  const [usdc, alias] = COVER_AMOUNTS.map((name) => value[name])
  if (usdc === undefined && alias === undefined) {
    const message = 'Give one of amount_usdc, amount.'
    for (const name of COVER_AMOUNTS) issues.push({ code: 'custom', input: undefined, path: [name], message, params: { code: 'missing' } })
  } else if (usdc !== undefined && alias !== undefined && coverageMinor(usdc) !== coverageMinor(alias)) {
    const message = 'It differs from amount_usdc; give one of them.'
    issues.push({ code: 'custom', input: undefined, path: ['amount'], message, params: {} })
  }
}

/** Amount of an invoice in USDC. */
export const INVOICE_AMOUNT = z.union([
  z.number().min(0).max(INVOICE_RULES.amount_max),
  z
    .string()
    .max(INVOICE_RULES.amount_chars)
    .regex(/^[0-9]{1,12}(\.[0-9]{1,18})?$/),
])

/** Bank details of the merchant, which the payer may pay in place of USDC. Each part is checked when the invoice is created. */
export const INVOICE_BANK = z
  .strictObject({
    iban: z.string().max(64).describe('IBAN of the account.'),
    bic: z.string().max(16).optional().describe('BIC of its bank, in capitals. The QR code of an account outside the EEA needs it.'),
    name: z.string().max(140).describe('Holder of the account.'),
    currency: z.string().max(3).describe('Currency of the account and the amount, such as EUR; in EUR there is a QR code (EPC069-12).'),
    amount: INVOICE_AMOUNT.describe('Amount that is due at the bank, as the merchant states it: no exchange rate is computed.'),
    reference: z.string().max(40).optional().describe('Creditor reference (ISO 11649) of the transfer; one of the invoice if absent.'),
  })
  .describe(
    'Bank. Account of the merchant, for payers who pay by bank: part of what the merchant signs. After signing the invoice, the merchant confirms the ' +
      'transfer with a bank statement.',
  )

/** Shop and due date of an invoice. */
export const INVOICE_SHOP = {
  order_number: z
    .string()
    .max(INVOICE_RULES.order_number_chars)
    .optional()
    .describe('Order number. One line, as the shop counts; on page, PDF, list and webhooks.'),
  return_url: z
    .string()
    .max(INVOICE_RULES.return_url_chars)
    .optional()
    .describe('Return URL. An https page of the shop: after the payment, the payment page links to it with its host; it never redirects.'),
  due_days: z
    .int()
    .min(1)
    .max(INVOICE_RULES.due_days_max)
    .optional()
    .describe(
      'Due days. The invoice can be paid in time for so many days; 14 if absent. Unsigned invoices are safe from eviction for 14 days only.',
    ),
}

/** Two names of each field, the specified one first. */
export interface InvoiceNames {
  amount: readonly [string, string]
  client_name: readonly [string, string]
}

/** Requires an amount; both names of a field may be present only with the same value. */
export function checkInvoiceNames(names: InvoiceNames) {
  return ({ value, issues }: z.core.ParsePayload<Readonly<Record<string, unknown>>>): void => {
    for (const [[name, other], same] of [[names.amount, sameAmount] as const, [names.client_name, Object.is] as const]) {
      const [one, two] = [value[name], value[other]]
      if (one === undefined || two === undefined || same(one, two)) continue
      issues.push({ code: 'custom', input: undefined, path: [other], message: `It differs from ${name}; give one of them.`, params: {} })
    }
    const [amount, alias] = names.amount
    if (value[amount] !== undefined || value[alias] !== undefined) return
    issues.push({ code: 'custom', input: undefined, path: [amount], message: `Give ${amount}.`, params: { code: 'missing' } })
  }
}

/** The block at which everything of an answer was read. */
export const BLOCK = z
  .strictObject({
    number: z.string().describe('Height, decimal.'),
    hash: z.string().describe('Hash of the header.'),
    timestamp: z.string().describe('Time of the block, RFC 3339.'),
    age_s: z.int().describe('Seconds between that time and this answer.'),
  })
  .describe('Everything here was read at this one block.')

/** Which chain was read. */
export const CHAIN = z
  .strictObject({
    id: z
      .int()
      .min(1)
      .max(2 ** 53 - 1)
      .describe('EIP-155 chain id.'),
    sandbox: z.boolean().describe('True: a chain of this machine, which says nothing about the world.'),
  })
  .describe('The chain that was read.')

/** The wire form of BLOCK. */
export function blockShown({ number, hash, timestamp_s }: BlockHeader, now_ms: number): z.output<typeof BLOCK> {
  const age_s = Math.floor(now_ms / 1_000) - timestamp_s
  return { number: String(number), hash, timestamp: new Date(timestamp_s * 1_000).toISOString(), age_s }
}

/** The wire form of CHAIN. */
export function chainShown({ chain_id, sandbox }: { chain_id: number; sandbox: boolean }): z.output<typeof CHAIN> {
  return { id: chain_id, sandbox }
}
