import { z } from 'zod'
import { CURRENCY_DATA_AS_OF } from '../../pure/checks/currency.ts'
import { IBAN_DATA_AS_OF } from '../../pure/checks/iban-facts.ts'
import { PROFILES, RULES_VERSION } from '../../pure/documents/iso20022/rule.ts'
import { KNOWN_MESSAGES } from '../../pure/documents/iso20022/versions.ts'
import { defineTool, PURE, Refusal } from '../../service/catalogue/define.ts'
import { DATA_AS_OF } from '../../service/catalogue/schemas.ts'
import { limits } from '../../service/limits.ts'

/** Far more than a call of 20,000 JSON values can hold. */
const TRANSACTIONS = 2_000
const NAMESPACE_CHARS = 200
const STANDARD = 'ISO 20022' as const

const identifier = (what: string) => z.string().max(limits.identifier_chars).optional().describe(what)

const PARTY = {
  iban: identifier('IBAN, without spaces.'),
  bic: identifier('BIC, 8 or 11 characters.'),
  lei: identifier('LEI, 20 characters.'),
}

const TRANSACTION = z.strictObject({
  end_to_end_id: identifier('End-to-end identification.'),
  amount: z
    .union([z.string().max(40), z.number().min(0).max(1e15)])
    .optional()
    .describe('Amount as decimal text; a number is taken by its value.'),
  currency: z.string().max(3).optional().describe('ISO 4217 code.'),
  ...PARTY,
  debtor: z.strictObject(PARTY).optional().describe('Who pays.'),
  creditor: z.strictObject(PARTY).optional().describe('Who is paid.'),
})

const FINDING = z.strictObject({
  code: z.string().describe('The rule.'),
  severity: z.enum(['error', 'warning', 'info']).describe('As the profile weighs it.'),
  path: z.string().describe('Element path, repeated elements counted from 1.'),
  line: z.int().min(1).nullable().describe('Line of the payload.'),
  found: z.string().nullable().describe('What stands there, cut.'),
  expected: z.string().nullable().describe('What should.'),
  message: z.string().describe('One sentence.'),
})

const COUNT = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/** One transfer of 1,250.75 euro. */
const EXAMPLE =
  '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>MSG-1</MsgId>' +
  '<CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm><NbOfTxs>1</NbOfTxs><CtrlSum>1250.75</CtrlSum><InitgPty><Nm>Payer</Nm></InitgPty></GrpHdr>' +
  '<PmtInf><PmtInfId>PMT-1</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>false</BtchBookg><ReqdExctnDt><Dt>2026-11-23</Dt></ReqdExctnDt>' +
  '<Dbtr><Nm>Payer</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId>' +
  '<BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt><CdtTrfTxInf><PmtId><EndToEndId>E2E-1</EndToEndId></PmtId><Amt>' +
  '<InstdAmt Ccy="EUR">1250.75</InstdAmt></Amt><Cdtr><Nm>Creditor</Nm></Cdtr><CdtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></CdtrAcct>' +
  '</CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn></Document>'

/** Whether a payment message keeps its structure and the rules that no schema expresses. */
export default defineTool({
  id: 'iso20022-validate',
  title: 'Validate an ISO 20022 message',
  description:
    'Validates pain.001, pacs.008 and camt.053, XML or JSON: structure by version, control sums by exact decimals, IBAN, BIC and LEI check ' +
    'digits, addresses, and rules of SEPA, CBPR+ and SPS. DOCTYPE is refused. Each finding has code, severity, path, line, found and expected.',
  family: 'messages',
  version: '1.2.0',
  price: 'document',
  annotations: PURE,
  heavy: true,
  bounds: { body_bytes: limits.document_body_bytes },
  scope: {
    checked: [
      'well-formed XML 1.0 in UTF-8, no DOCTYPE; strict JSON with literals kept',
      'structure of pain.001 (03 09 11 12), pacs.008 (02 08 10 12 13), camt.053 (02 04 08 10 13)',
      'counts and sums exactly; check digits of ISO 13616 and 17442; form of ISO 9362',
    ],
    not_checked: [
      'external code lists',
      'what stands inside SplmtryData/Envlp; the type that xsi:type names; structure of the header AppHdr',
      'that accounts, banks and parties exist',
      'usage guidelines of single banks',
    ],
  },
  headline: [
    {
      when: { verdict: 'valid', 'finding_counts.warning': 0 },
      tone: 'good',
      word: 'valid',
      sentence: 'No rule of the profile {profile} is broken.',
    },
    {
      when: { verdict: 'valid' },
      tone: 'good',
      word: 'valid',
      sentence: 'No error against the profile {profile}; {finding_counts.warning|warning|warnings} to read.',
    },
    {
      when: { verdict: 'invalid' },
      tone: 'bad',
      word: 'invalid',
      sentence: '{finding_counts.error|error|errors} against the profile {profile}; each finding names its place and the expected value.',
    },
    {
      when: { verdict: 'undetermined' },
      tone: 'caution',
      word: 'undetermined',
      sentence: 'The message or its version is not known here, so nothing is said of it.',
    },
  ],
  sources: [],
  input: z.strictObject({
    raw_payload: z.string().max(limits.document_body_bytes).describe('The message as text; with transactions it may be anything.'),
    format: z.enum(['xml', 'json']).optional().describe('Seen by the first character when left out.'),
    namespace: z.string().max(NAMESPACE_CHARS).optional().describe('Namespace that is expected, whole or as pain.001.001.09.'),
    transactions: z.array(TRANSACTION).max(TRANSACTIONS).optional().describe('Transactions to check beside the payload, or in its place.'),
    profile: z.enum(PROFILES).optional().describe('Market practice; else seen by header, namespace or service level.'),
  }),
  output: z.strictObject({
    ok: z.boolean().describe('The same as valid.'),
    valid: z.boolean().nullable().describe('Whether no finding is an error; null when the type or version is not known.'),
    verdict: z.enum(['valid', 'invalid', 'undetermined']).describe('The same in a word.'),
    standard: z.literal(STANDARD).describe('Standard of the message.'),
    format: z.enum(['xml', 'json', 'transactions']).describe('What was read.'),
    message_type: z.enum(['pain.001', 'pacs.008', 'camt.053']).nullable().describe('The message, or null.'),
    version: z.string().nullable().describe('Two digits, or null.'),
    namespace: z.string().nullable().describe('That of the document.'),
    profile: z.enum(PROFILES).describe('What the message was held against.'),
    profile_source: z
      .enum(['argument', 'business_service', 'namespace', 'service_level', 'default'])
      .describe('Where the profile was seen.'),
    message_id: z.string().nullable().describe('MsgId of the group header.'),
    tx_count: COUNT.nullable().describe('Transactions, or entries of a statement.'),
    ctrl_sum: z.string().nullable().describe('Exact sum of their amounts across currencies.'),
    ctrl_sum_minor: z.string().nullable().describe('The sum in minor units, where there is one currency.'),
    currencies: z.array(z.string()).describe('Currencies of the amounts.'),
    findings: z.array(FINDING).describe('At most 200, errors first when there are more.'),
    finding_counts: z
      .strictObject({ error: COUNT.describe('Errors.'), warning: COUNT.describe('Warnings.'), info: COUNT.describe('Remarks.') })
      .describe('How many there are.'),
    truncated: z.boolean().describe('Whether some are not listed.'),
    receipt_digest: z.null().describe('Always null: the receipt covers this result, so its digest is outside it.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { raw_payload: EXAMPLE },
  refuses(result) {
    if (result['valid'] !== null) return null
    // A problem carries no text of the caller, so the namespace that was found is not among its members.
    const { valid, verdict } = result
    const sentence =
      'No message of a known type and version was found, so it is neither valid nor invalid. Nothing was charged. ' +
      `Known: ${KNOWN_MESSAGES.join(', ')}.`
    return new Refusal('MESSAGE_UNKNOWN', sentence, { extra: { valid, verdict, known_messages: KNOWN_MESSAGES } })
  },
  async run({ raw_payload, format, namespace, transactions, profile }) {
    const { validateAsked } = await import('../../pure/documents/iso20022/validate.ts')
    const answer = validateAsked({
      payload: raw_payload,
      format: format ?? null,
      namespace: namespace ?? null,
      profile: profile ?? null,
      transactions: transactions ?? null,
    })
    return {
      ok: answer.valid === true,
      verdict: answer.valid === null ? ('undetermined' as const) : answer.valid ? ('valid' as const) : ('invalid' as const),
      ...answer,
      standard: STANDARD,
      receipt_digest: null,
      data_as_of: { iban_registry: IBAN_DATA_AS_OF.iban_registry, ...CURRENCY_DATA_AS_OF, iso20022_rules: RULES_VERSION },
    }
  },
})
