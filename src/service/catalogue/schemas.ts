import { z } from 'zod'
import type { BlockHeader } from '../../ports/chain.ts'
import { REASON_CODES, type ReasonCode } from '../../pure/checks/verdict.ts'

/** The wire form of `pure/checks/verdict.ts`, for tools that answer with a check. */

const CODES = Object.keys(REASON_CODES) as [ReasonCode, ...ReasonCode[]]

const FINDING = z.strictObject({
  // The closed list is spelled out once, in reason_code: each copy would be sent with each tool of each list.
  code: z.string().describe('What kind of fault: one of the values of reason_code.'),
  field: z.string().describe('The part that is wrong.'),
  position: z
    .tuple([z.int().min(0).max(1_000_000), z.int().min(0).max(1_000_000)])
    .nullable()
    .describe('Half-open range in `normalized`.'),
  expected: z.string().nullable().describe('What would have been right.'),
  found: z.string().nullable().describe('What stands there.'),
  message: z.string().describe('One sentence.'),
})

/** Where a part of the identifier stands, so that a page can set it apart. */
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
    verdict: z.enum(['valid', 'well_formed_unverifiable', 'invalid']).describe('The verdict in three levels.'),
    reason_code: z.enum(['ok', ...CODES]).describe('ok, or the code of the first finding.'),
    reason: z.string().describe('One sentence for people.'),
    normalized: z.string().describe('The value as it was checked.'),
    changes: z.array(z.string()).describe('What normalization altered.'),
    findings: z.array(FINDING).describe('Faults of the earliest stage that failed.'),
    warnings: z.array(FINDING).describe('Remarks that do not make the value invalid.'),
    expected_check: z.string().nullable().describe('The check characters that the rest calls for.'),
    suggestion: z.string().nullable().describe('The only single edit that passes, or null. Never apply it to a payment unasked.'),
    facts: facts.nullable().describe('What can be read off a well-formed value.'),
  })
}

/** What is publicly known of the country in a value; a hint, no screening. */
export const SANCTIONS = z
  .strictObject({
    level: z.enum(['comprehensive', 'elevated']).describe('Nearly everything prohibited, or list-based programmes.'),
    as_of: z.string().describe('Date of the table.'),
  })
  .nullable()
  .describe('OFAC programmes by country code alone, or null. No screening of names.')

/** Publication dates of the tables that an answer used, by table. */
export const DATA_AS_OF = z.record(z.string(), z.string()).describe('Date or release of each reference table used.')

/** A check's own answer inside that of a pack. */
export const PACK_CHECK = z.record(z.string(), z.unknown()).nullable()

const CROSS_CHECK = z.strictObject({
  code: z.string().describe('Kind of finding.'),
  fields: z.array(z.string()).describe('The fields it is about.'),
  severity: z.enum(['fatal', 'warning', 'info']).describe('fatal makes the whole invalid.'),
  message: z.string().describe('One sentence.'),
})

/** The output of a pack with these checks: the wire form of `pure/checks/pack.ts`. */
export function packOutput<Checks extends z.ZodRawShape>(checks: Checks) {
  return z.strictObject({
    valid: z.boolean().describe('Every given value is valid and no cross finding is fatal.'),
    verdict: z.enum(['pass', 'review', 'fail']).describe('review: valid, with warnings to read.'),
    summary: z.string().describe('One sentence for people.'),
    checks: z.strictObject(checks).describe('Each check whole, under the field that was given.'),
    cross_checks: z.array(CROSS_CHECK).describe('What the values say of one another.'),
    data_as_of: DATA_AS_OF,
  })
}

/** An address of the EVM as an input: its letters may be of any case; a broken checksum is told, not refused. */
export const ADDRESS = z
  .string()
  .max(42)
  .regex(/^0x[0-9a-fA-F]{40}$/)

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
