import { z } from 'zod'
import { INTENT_CHAINS, INTENT_CODES, buildIntent } from '../../pure/documents/intent/intent.ts'
import { usableId } from '../../pure/documents/reconcile/values.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { IDENTIFIER } from '../../service/catalogue/schemas.ts'

/** Max35Text of ISO 20022. */
const ID_CHARS = 35
const DIRECTORY_ENTRIES = 1_000
const WALLET = z.string().max(64)
const STANDARD = 'EIP-3009 transfer authorization, EIP-712 typed data' as const
const NOTICE = 'A template, not a payment: assay signs, holds and moves nothing, and makes no bank payment.'
const digits = (max: number) =>
  z
    .string()
    .max(20)
    .regex(new RegExp(`^[0-9]{1,${max}}$`))
const MAX_SECONDS = 2 ** 48
const SECONDS = z.union([z.int().min(0).max(MAX_SECONDS), digits(15)])

export default defineTool({
  id: 'iso20022-to-x402-intent',
  title: 'Turn an instruction into a payment template',
  description:
    'Builds the EIP-712 template of an EIP-3009 transfer from an ISO 20022 instruction: exact amount, no currency conversion, wallets from ' +
    'your own directory, a nonce derived from the instruction so that a retry cannot pay twice. Signs nothing, holds nothing, moves ' +
    'nothing.',
  family: 'messages',
  version: '1.1.0',
  price: 'check',
  annotations: PURE,
  scope: {
    checked: ['amount against the minor units of its currency', 'IBANs by their check digits, wallets by EIP-55'],
    not_checked: ['owners of the wallets', 'balances and allowances', 'whether the instruction is genuine, or was already paid by bank'],
  },
  headline: [
    { when: { valid: true }, tone: 'good', word: 'PAYMENT TEMPLATE READY' },
    { when: { valid: false }, tone: 'bad', word: 'NO PAYMENT TEMPLATE' },
  ],
  sources: [],
  input: z.strictObject({
    instruction: z
      .strictObject({
        end_to_end_id: z.string().min(1).max(ID_CHARS).describe('End-to-end ID of the instruction, for example INV-2026-0042.'),
        instructed_amount: z
          .strictObject({
            currency: z.string().max(16).describe('ISO 4217 code; USD is paid in USDC, EUR in EURC.'),
            amount_str: z
              .string()
              .max(24)
              .regex(/^[0-9]{1,18}(\.[0-9]{1,5})?$/)
              .optional()
              .describe('Amount as decimal text, for example 125.50.'),
            amount_minor: z
              .union([z.int().min(0).max(1_000_000_000_000_000), digits(18)])
              .optional()
              .describe('Amount in minor units, for example 12550. If you give both, they must be equal.'),
          })
          .describe('The instructed amount.'),
        debtor: z.strictObject({ iban: IDENTIFIER.describe('IBAN of the payer.') }).describe('The payer.'),
        creditor: z.strictObject({ iban: IDENTIFIER.describe('IBAN of the payee.') }).describe('The payee.'),
      })
      .describe('The payment instruction.'),
    counterparty_wallet_directory: z
      .record(IDENTIFIER, WALLET)
      .check(({ value, issues }) => {
        if (Object.keys(value).length <= DIRECTORY_ENTRIES) return
        issues.push({ code: 'too_big', origin: 'object', maximum: DIRECTORY_ENTRIES, input: value, inclusive: true })
      })
      .meta({ maxProperties: DIRECTORY_ENTRIES })
      .optional()
      .describe('Wallets (0x and 40 hexadecimal digits) by IBAN.'),
    seller_pay_to_address: WALLET.optional().describe('Recipient wallet, used when the directory does not have the creditor.'),
    chain_id: z.int().min(1).max(2_147_483_647).optional().describe('Chain ID: 8453 (Base, the default) or 84532 (Base Sepolia).'),
    valid_after: SECONDS.optional().describe('Unix time in seconds, exclusive; default 0.'),
    valid_before: SECONDS.optional().describe('Unix time in seconds, exclusive; if omitted, fill it in before signing.'),
  }),
  output: z.strictObject({
    ok: z.boolean().describe('The same as valid.'),
    status: z
      .enum(['ready', 'incomplete', 'refused'])
      .describe('ready: can be signed. incomplete: fill in the fields of `needs` first. refused: no template, see findings.'),
    standard: z.literal(STANDARD).describe('Standards of the template.'),
    intent_template: z.record(z.string(), z.unknown()).nullable().describe('The same as typed_data.'),
    notice: z.string().describe('What the template does not do.'),
    valid: z.boolean().describe('Whether a template was built.'),
    reason_code: z.enum(['ok', ...INTENT_CODES]).describe('ok, or the code of the first finding.'),
    reason: z.string().describe('One sentence.'),
    findings: z.array(z.record(z.string(), z.unknown())).describe('Why there is no template: code, field and message.'),
    warnings: z
      .array(z.string())
      .describe('recipients_differ, domain_unconfirmed, or id_not_provided: without an ID the nonce identifies only amount and parties.'),
    end_to_end_id: z.string().describe('The end-to-end ID of the input.'),
    typed_data: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('EIP-712 typed data: domain, types, primaryType, message; null when there are findings.'),
    needs: z.array(z.enum(['from', 'valid_before'])).describe('Fields to fill in before signing.'),
    amount: z.record(z.string(), z.unknown()).nullable().describe('The amount: currency, amount_minor, token_units, token.'),
    recipient_source: z
      .enum(['directory', 'seller_pay_to_address'])
      .nullable()
      .describe('Source of the recipient wallet; the directory takes precedence.'),
    x402: z.record(z.string(), z.unknown()).nullable().describe('Payment terms for x402: scheme, network, asset, amount, payTo.'),
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
    const { intent, findings } = buildIntent({
      end_to_end_id: instruction.end_to_end_id,
      currency,
      amount_str,
      amount_minor: optionalText(amount_minor),
      debtor_iban: instruction.debtor.iban,
      creditor_iban: instruction.creditor.iban,
      directory: counterparty_wallet_directory,
      seller_pay_to_address,
      chain_id,
      valid_after: optionalText(valid_after),
      valid_before: optionalText(valid_before),
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
      reason: first?.message ?? 'The template pays exactly this amount, once.',
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

function optionalText(value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}
