import { z } from 'zod'
import { INTENT_CHAINS, INTENT_CODES, intentOf } from '../../pure/documents/intent/intent.ts'
import { usableId } from '../../pure/documents/reconcile/ids.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { limits } from '../../service/limits.ts'

/** Max35Text of ISO 20022. */
const ID_CHARS = 35
const DIRECTORY_ENTRIES = 1_000
const WALLET = z.string().max(64)
const IBAN = z.string().max(limits.identifier_chars)
const STANDARD = 'EIP-3009 transfer authorization, EIP-712 typed data' as const
const NOTICE = 'A template, not a payment: nothing is signed, held or moved here, and there is no fiat leg.'
const SECONDS = z.union([
  z
    .int()
    .min(0)
    .max(2 ** 48),
  z
    .string()
    .max(20)
    .regex(/^[0-9]{1,15}$/),
])

/** A payment instruction as a template that its payer may sign. */
export default defineTool({
  id: 'iso20022-to-x402-intent',
  title: 'Turn an instruction into a payment template',
  description:
    'Builds the EIP-712 template of an EIP-3009 transfer from an ISO 20022 instruction: exact amount, no currency conversion, wallets from ' +
    'your own directory, a nonce that follows from the instruction so that a retry cannot pay twice. Signs nothing, holds nothing, moves ' +
    'nothing.',
  family: 'messages',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['amount against the minor units of its currency', 'IBANs by their check digits, wallets by EIP-55'],
    not_checked: ['whose the wallets are', 'balances and allowances', 'that the instruction is genuine or was not paid by bank'],
  },
  headline: [
    { when: { valid: true }, tone: 'good', word: 'PAYMENT TEMPLATE READY' },
    { when: { valid: false }, tone: 'bad', word: 'NO PAYMENT TEMPLATE' },
  ],
  sources: [],
  input: z.strictObject({
    instruction: z
      .strictObject({
        end_to_end_id: z.string().min(1).max(ID_CHARS).describe('End-to-end id of the instruction.'),
        instructed_amount: z
          .strictObject({
            currency: z.string().max(16).describe('ISO 4217 code; USD becomes USDC, EUR becomes EURC.'),
            amount_str: z
              .string()
              .max(24)
              .regex(/^[0-9]{1,18}(\.[0-9]{1,5})?$/)
              .optional()
              .describe('Amount as decimal text.'),
            amount_minor: z
              .union([
                z.int().min(0).max(1_000_000_000_000_000),
                z
                  .string()
                  .max(20)
                  .regex(/^[0-9]{1,18}$/),
              ])
              .optional()
              .describe('Amount in minor units. Where both are given they must be the same amount.'),
          })
          .describe('What is instructed.'),
        debtor: z.strictObject({ iban: IBAN.describe('Account of the payer.') }).describe('Who pays.'),
        creditor: z.strictObject({ iban: IBAN.describe('Account of the payee.') }).describe('Who is paid.'),
      })
      .describe('The instruction.'),
    counterparty_wallet_directory: z
      .record(z.string().max(limits.identifier_chars), WALLET)
      .check(({ value, issues }) => {
        if (Object.keys(value).length <= DIRECTORY_ENTRIES) return
        issues.push({ code: 'too_big', origin: 'object', maximum: DIRECTORY_ENTRIES, input: value, inclusive: true })
      })
      .meta({ maxProperties: DIRECTORY_ENTRIES })
      .optional()
      .describe('Wallets by IBAN.'),
    seller_pay_to_address: WALLET.optional().describe('Recipient when the directory does not name the creditor.'),
    chain_id: z.int().min(1).max(2_147_483_647).optional().describe('8453 (Base, the default) or 84532 (Base Sepolia).'),
    valid_after: SECONDS.optional().describe('Seconds since 1970, exclusive; 0 when left out.'),
    valid_before: SECONDS.optional().describe('Seconds since 1970, exclusive; without it the template says that it is needed.'),
  }),
  output: z.strictObject({
    ok: z.boolean().describe('The same as valid.'),
    status: z
      .enum(['ready', 'incomplete', 'refused'])
      .describe('ready: can be signed as it is. incomplete: `needs` must be filled in first. refused: no template, see findings.'),
    standard: z.literal(STANDARD).describe('Form of the template.'),
    intent_template: z.record(z.string(), z.unknown()).nullable().describe('The same as typed_data.'),
    notice: z.string().describe('What the template does not do.'),
    valid: z.boolean().describe('There is a template.'),
    reason_code: z.enum(['ok', ...INTENT_CODES]).describe('ok, or the code of the first finding.'),
    reason: z.string().describe('One sentence.'),
    findings: z.array(z.record(z.string(), z.unknown())).describe('code, field and message of what stands in the way.'),
    warnings: z
      .array(z.string())
      .describe('recipients_differ, domain_unconfirmed, id_not_provided: the nonce then binds amount and parties only.'),
    end_to_end_id: z.string().describe('As given.'),
    typed_data: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('EIP-712: domain, types, primaryType, message; null beside findings.'),
    needs: z.array(z.enum(['from', 'valid_before'])).describe('What must be filled in before signing.'),
    amount: z.record(z.string(), z.unknown()).nullable().describe('currency, amount_minor, token_units, token.'),
    recipient_source: z.enum(['directory', 'seller_pay_to_address']).nullable().describe('The directory goes first.'),
    x402: z.record(z.string(), z.unknown()).nullable().describe('scheme, network, asset, amount and payTo for a payment by x402.'),
  }),
  example: {
    instruction: {
      end_to_end_id: 'INV-2026-0042',
      instructed_amount: { currency: 'USD', amount_str: '125.50', amount_minor: '12550' },
      debtor: { iban: 'DE89370400440532013000' },
      creditor: { iban: 'GB82WEST12345698765432' },
    },
    counterparty_wallet_directory: {
      DE89370400440532013000: '0x1000000000000000000000000000000000000001',
      GB82WEST12345698765432: '0x2000000000000000000000000000000000000002',
    },
    valid_before: '1795300000',
  },
  run({
    instruction,
    counterparty_wallet_directory = {},
    seller_pay_to_address,
    chain_id = INTENT_CHAINS[0] ?? 0,
    valid_after,
    valid_before,
  }) {
    const { currency, amount_str, amount_minor } = instruction.instructed_amount
    const { intent, findings } = intentOf({
      end_to_end_id: instruction.end_to_end_id,
      amount: { currency, amount_str, amount_minor: textOf(amount_minor) },
      debtor_iban: instruction.debtor.iban,
      creditor_iban: instruction.creditor.iban,
      directory: counterparty_wallet_directory,
      seller_pay_to_address,
      chain_id,
      valid_after: textOf(valid_after),
      valid_before: textOf(valid_before),
    })
    const [first] = findings
    const stated = {
      ok: intent !== null,
      status: intent === null ? ('refused' as const) : intent.needs.length > 0 ? ('incomplete' as const) : ('ready' as const),
      standard: STANDARD,
      intent_template: intent === null ? null : { ...intent.typed_data },
      notice: NOTICE,
      valid: intent !== null,
      reason_code: first?.code ?? ('ok' as const),
      reason: first?.message ?? 'The template moves exactly this amount, once.',
      findings: findings.map((one) => ({ ...one })),
      end_to_end_id: instruction.end_to_end_id,
    }
    if (intent === null) return { ...stated, warnings: [], typed_data: null, needs: [], amount: null, recipient_source: null, x402: null }
    const { amount, parties, typed_data, needs } = intent
    const { name: _, version: __, domain_confirmed, ...token } = amount.token
    return {
      ...stated,
      warnings: [
        ...(parties.recipients_differ ? ['recipients_differ'] : []),
        ...(domain_confirmed ? [] : ['domain_unconfirmed']),
        ...(usableId(instruction.end_to_end_id) === null ? ['id_not_provided'] : []),
      ],
      typed_data: { ...typed_data },
      needs,
      amount: { currency: amount.currency, amount_minor: String(amount.amount_minor), token_units: String(amount.token_units), token },
      recipient_source: parties.recipient_source,
      x402: { scheme: 'exact', network: `eip155:${chain_id}`, asset: token.address, amount: String(amount.token_units), payTo: parties.to },
    }
  },
})

function textOf(value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}
