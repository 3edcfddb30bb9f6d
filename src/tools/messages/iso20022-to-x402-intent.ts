import { z } from 'zod'
import { checkCurrency, settlementToken } from '../../pure/checks/currency.ts'
import { readEvmAddress } from '../../pure/checks/evm-address.ts'
import { checkIban } from '../../pure/checks/iban.ts'
import { unpayableAddress, unpayableText } from '../../pure/contracts/unpayable.ts'
import { usableId } from '../../pure/documents/reconcile/values.ts'
import { PRIMARY_NETWORKS } from '../../pure/networks.ts'
import { usdcOn } from '../../pure/payments/usdc.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { nobleCrypto } from '../../pure/receipts/crypto.ts'
import { defineTool, PURE } from '../../service/catalogue/define.ts'
import { IDENTIFIER } from '../../service/catalogue/schemas.ts'

/** Why an intent cannot be built. The message never quotes the input. */
interface IntentFinding {
  code: (typeof INTENT_CODES)[number]
  field: string
  message: string
}

const INTENT_CODES = [
  'currency_unknown',
  'no_token',
  'amount_missing',
  'amount_fraction',
  'amounts_differ',
  'amount_not_positive',
  'unsupported_chain',
  'iban_invalid',
  'directory_ambiguous',
  'wallet_invalid',
  'wallet_checksum',
  'wallet_zero',
  'wallet_unpayable',
  'recipient_missing',
  'payer_is_recipient',
  'window_empty',
] as const

/** The chains with known tokens. */
const INTENT_CHAINS: readonly number[] = PRIMARY_NETWORKS.map(({ chain_id }) => chain_id)

interface IntentRequest {
  end_to_end_id: string
  currency: string
  /** The amount as decimal text, in minor units, or both. */
  amount_str?: string | undefined
  amount_minor?: string | undefined
  debtor_iban: string
  creditor_iban: string
  /** Wallets by IBAN. */
  directory: Readonly<Record<string, string>>
  seller_pay_to_address?: string | undefined
  chain_id: number
  valid_after?: string | undefined
  valid_before?: string | undefined
}

interface IntentToken {
  symbol: string
  /** EIP-55 form. */
  address: string
  decimals: number
  /** Name and version of the EIP-712 domain. */
  name: string
  version: string
  /** The name was read from the contract; a signature over another name is invalid. */
  domain_confirmed: boolean
}

interface IntentAmount {
  currency: string
  amount_minor: bigint
  /** In the smallest unit of the token. */
  token_units: bigint
  token: IntentToken
}

interface IntentParties {
  debtor_iban: string
  creditor_iban: string
  /** EIP-55 form; null when the directory does not have the debtor. */
  from: string | null
  to: string
  recipient_source: 'directory' | 'seller_pay_to_address'
  /** The directory and seller_pay_to_address have different wallets; the directory takes precedence. */
  recipients_differ: boolean
}

interface ValidityWindow {
  validAfter: string
  validBefore: string | null
}

const AUTHORIZATION = typedFields('from:address to:address value:uint256 validAfter:uint256 validBefore:uint256 nonce:bytes32')
const DOMAIN = typedFields('name:string version:string chainId:uint256 verifyingContract:address')

function typedFields(fields: string): { name: string; type: string }[] {
  return fields.split(' ').map((field) => {
    const [name = '', type = ''] = field.split(':')
    return { name, type }
  })
}

/** Part of every nonce, so that no other scheme makes the same nonce. */
const NONCE_TAG = 'iso20022-to-x402-intent/1'

/**
 * Turns a payment instruction into EIP-712 typed data of an EIP-3009 authorization, which its payer may sign (EIP-3009 and EIP-712, final).
 * Values that only the caller has are null and listed in `needs`. The nonce is derived from the instruction: a retry makes the same
 * authorization, which the token executes once; a random nonce could pay twice. With findings there is no intent.
 */
function buildIntent(request: IntentRequest) {
  const findings: IntentFinding[] = []
  if (!INTENT_CHAINS.includes(request.chain_id)) {
    const message = `Unsupported chain; use ${INTENT_CHAINS.join(' or ')}.`
    return { intent: null, findings: [{ code: 'unsupported_chain' as const, field: 'chain_id', message }] }
  }
  const parties = readParties(request, findings)
  const amount = readAmount(request, findings)
  const window = readWindow(request, findings)
  if (parties === null || amount === null || findings.length > 0) return { intent: null, findings }
  const needs = [...(parties.from === null ? ['from' as const] : []), ...(window.validBefore === null ? ['valid_before' as const] : [])]
  return { intent: { amount, parties, typed_data: buildTypedData(request, amount, parties, window), needs }, findings }
}

/** The amount in the token of its currency, never converted or rounded. */
function readAmount(request: IntentRequest, findings: IntentFinding[]): IntentAmount | null {
  const { chain_id } = request
  const { facts } = checkCurrency(request.currency)
  if (facts?.status !== 'current' || facts.minor_units === null) {
    const message = 'Not a current ISO 4217 currency code; write for example USD or EUR.'
    findings.push({ code: 'currency_unknown', field: 'instructed_amount.currency', message })
    return null
  }
  const { alpha: currency, minor_units } = facts
  const amount_minor = readMinorUnits(request, minor_units, findings)
  const token = findToken(currency, chain_id)
  if (token === null) {
    const message = `No known token of ${currency} on chain ${chain_id}; amounts are not converted.`
    findings.push({ code: 'no_token', field: 'instructed_amount.currency', message })
  }
  if (amount_minor === null || token === null) return null
  if (amount_minor <= 0n) {
    findings.push({ code: 'amount_not_positive', field: 'instructed_amount', message: 'The amount must be above zero.' })
    return null
  }
  return { currency, amount_minor, token_units: amount_minor * 10n ** BigInt(token.decimals - minor_units), token }
}

function readMinorUnits({ amount_str, amount_minor }: IntentRequest, minor_units: number, findings: IntentFinding[]): bigint | null {
  const stated = amount_minor === undefined ? null : BigInt(amount_minor)
  if (amount_str === undefined) {
    const message = 'Give amount_str, amount_minor or both.'
    if (stated === null) findings.push({ code: 'amount_missing', field: 'instructed_amount', message })
    return stated
  }
  const [whole = '', fraction = ''] = amount_str.split('.')
  if (/[1-9]/.test(fraction.slice(minor_units))) {
    const message = `The amount has more than the ${minor_units} decimals of its currency.`
    findings.push({ code: 'amount_fraction', field: 'instructed_amount.amount_str', message })
    return null
  }
  const read = BigInt(`${whole}${fraction.slice(0, minor_units).padEnd(minor_units, '0')}`)
  if (stated === null || stated === read) return read
  findings.push({ code: 'amounts_differ', field: 'instructed_amount', message: 'amount_str and amount_minor are different amounts.' })
  return null
}

function findToken(currency: string, chain_id: number): IntentToken | null {
  if (currency === 'USD') {
    const { name, version, address } = usdcOn(chain_id)
    return { symbol: 'USDC', address, decimals: 6, name, version, domain_confirmed: true }
  }
  const token = settlementToken(currency)
  if (token === null || token.chain_id !== chain_id) return null
  // Circle's tokens name their domain after name(); for EURC on Base it was not read from the contract.
  return { ...token, name: token.symbol, version: '2', domain_confirmed: false }
}

/**
 * Finds payer and recipient. Accounts are compared without spaces and in capitals, after their check digits; wallets with capitals must
 * have those of EIP-55, since a mistyped one would receive the money. The creditor's wallet in the directory takes precedence over the
 * seller's address.
 */
function readParties(request: IntentRequest, findings: IntentFinding[]): IntentParties | null {
  const debtor_iban = readAccount(request.debtor_iban, 'instruction.debtor.iban', findings)
  const creditor_iban = readAccount(request.creditor_iban, 'instruction.creditor.iban', findings)
  const wallets = findWallets(request.directory, [debtor_iban, creditor_iban], findings)
  const address = request.seller_pay_to_address
  const seller = address === undefined ? null : readWallet(address, 'seller_pay_to_address', findings)
  if (debtor_iban === null || creditor_iban === null || findings.length > 0) return null
  const listed = wallets.get(creditor_iban) ?? null
  const from = wallets.get(debtor_iban) ?? null
  const to = listed ?? seller
  if (to === null || from === to) {
    const field = 'counterparty_wallet_directory'
    if (to === null) {
      const message = 'No wallet for the creditor: add its IBAN to the directory, or give seller_pay_to_address.'
      findings.push({ code: 'recipient_missing', field, message })
    } else findings.push({ code: 'payer_is_recipient', field, message: 'Payer and recipient have the same wallet.' })
    return null
  }
  const recipients_differ = listed !== null && seller !== null && listed !== seller
  return {
    debtor_iban,
    creditor_iban,
    from,
    to,
    recipient_source: listed === null ? 'seller_pay_to_address' : 'directory',
    recipients_differ,
  }
}

function readAccount(text: string, field: string, findings: IntentFinding[]): string | null {
  const { valid, normalized } = checkIban(text)
  if (valid) return normalized
  findings.push({ code: 'iban_invalid', field, message: 'Invalid IBAN; call iban-check for details.' })
  return null
}

/** The wallets of these accounts; other entries of the directory are not checked. */
function findWallets(directory: IntentRequest['directory'], accounts: readonly (string | null)[], findings: IntentFinding[]) {
  const field = 'counterparty_wallet_directory'
  const wallets = new Map<string, string>()
  for (const [key, value] of Object.entries(directory)) {
    const { normalized } = checkIban(key)
    if (!accounts.includes(normalized)) continue
    const found = readWallet(value, field, findings)
    const known = wallets.get(normalized) ?? found
    if (found !== null) wallets.set(normalized, found)
    if (known === found) continue
    findings.push({ code: 'directory_ambiguous', field, message: 'The directory has two different wallets for one IBAN.' })
  }
  return wallets
}

function readWallet(text: string, field: string, findings: IntentFinding[]): string | null {
  const read = text.startsWith('0x') ? readEvmAddress(text) : null
  const fault = (code: IntentFinding['code'], message: string) => {
    findings.push({ code, field, message })
    return null
  }
  if (read === null) return fault('wallet_invalid', 'A wallet must be 0x and 40 hexadecimal digits.')
  if (read.checksum === 'broken') return fault('wallet_checksum', 'Wrong EIP-55 capitals: the wallet may be mistyped.')
  const unpayable = unpayableAddress(read.address)
  if (unpayable?.kind === 'zero') return fault('wallet_zero', 'The zero address is not a wallet.')
  if (unpayable !== null) return fault('wallet_unpayable', unpayableText('The wallet', read.address, unpayable))
  return read.checksummed
}

function readWindow({ valid_after, valid_before }: IntentRequest, findings: IntentFinding[]): ValidityWindow {
  const after = BigInt(valid_after ?? '0')
  const before = valid_before === undefined ? null : BigInt(valid_before)
  // Both ends are exclusive.
  if (before !== null && before - after < 2n) {
    const message = 'valid_before must be at least two seconds after valid_after.'
    findings.push({ code: 'window_empty', field: 'valid_before', message })
  }
  return { validAfter: String(after), validBefore: before === null ? null : String(before) }
}

/** EIP-712 typed data in the form that wallets accept. */
function buildTypedData(
  { chain_id, end_to_end_id }: IntentRequest,
  { token, token_units }: IntentAmount,
  { from, to, debtor_iban, creditor_iban }: IntentParties,
  window: ValidityWindow,
) {
  const value = String(token_units)
  const bound = { tag: NONCE_TAG, chain_id, token: token.address, end_to_end_id, value, debtor_iban, creditor_iban, to }
  return {
    domain: { name: token.name, version: token.version, chainId: chain_id, verifyingContract: token.address },
    types: { EIP712Domain: DOMAIN, TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization' as const,
    message: { from, to, value, ...window, nonce: nobleCrypto.keccak256Hex(canonicalText(bound)) },
  }
}

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
  version: '1.2.0',
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
