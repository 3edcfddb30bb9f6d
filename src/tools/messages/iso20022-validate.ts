import { z } from 'zod'
import { CURRENCY_DATA_AS_OF } from '../../pure/checks/currency.ts'
import { IBAN_DATA_AS_OF } from '../../pure/checks/iban.ts'
import { KNOWN_MESSAGES, KNOWN_TYPES, MESSAGE_KINDS, MESSAGE_PROFILES } from '../../pure/documents/iso20022/rules.ts'
import { defineTool, PURE, Refusal } from '../../service/catalogue/define.ts'
import { DATA_AS_OF, IDENTIFIER } from '../../service/catalogue/schemas.ts'
import { limits } from '../../service/limits.ts'

/** More than fit into a call of 20,000 JSON values. */
const TRANSACTIONS = 2_000
const NAMESPACE_CHARS = 200
const STANDARD = 'ISO 20022' as const

const identifier = (what: string) => IDENTIFIER.optional().describe(what)

const PARTY = {
  iban: identifier('IBAN without spaces, for example DE89370400440532013000.'),
  bic: identifier('BIC, 8 or 11 characters, for example COBADEFF.'),
  lei: identifier('LEI, 20 characters.'),
}

const TRANSACTION = z.strictObject({
  end_to_end_id: identifier('End-to-end ID.'),
  amount: z
    .union([z.string().max(40), z.number().min(0).max(1e15)])
    .optional()
    .describe('Amount as decimal text, for example 1250.75; of a number only the value is checked.'),
  currency: z.string().max(3).optional().describe('ISO 4217 code, for example EUR.'),
  ...PARTY,
  debtor: z.strictObject(PARTY).optional().describe('The payer.'),
  creditor: z.strictObject(PARTY).optional().describe('The payee.'),
})

const FINDING = z.strictObject({
  code: z.string().describe('Code of the rule.'),
  severity: z.enum(['error', 'warning', 'info']).describe('Severity in the profile.'),
  path: z.string().describe('Path of the element, repeated elements numbered from 1.'),
  line: z.int().min(1).nullable().describe('Line of the payload, from 1.'),
  found: z.string().nullable().describe('Found value, at most 64 characters.'),
  expected: z.string().nullable().describe('Expected value or form.'),
  message: z.string().describe('Explanation in one sentence.'),
})

const COUNT = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/** Names what was sent. Problems never quote the input: formats have our own names, and of a namespace only the name of a message counts. */
function foundInstead(namespace: unknown, findings: unknown): string {
  const other = Array.isArray(findings) ? findings.find((one: { code?: unknown }) => one.code === 'FORMAT_OTHER') : undefined
  if (other !== undefined) return String((other as { found?: unknown }).found)
  const name = /[a-z]{4}\.\d{3}\.\d{3}\.\d{2}/.exec(typeof namespace === 'string' ? namespace : '')?.[0]
  return name ?? (typeof namespace === 'string' ? 'a Document of another namespace' : 'a document without the element Document')
}

/** Says what takes files of another format; empty where nothing does. */
function readerOf(found: string): string {
  if (found.includes('ACH')) return 'The command "assay validate" judges ACH files, and the tool reconcile compares them with payments. '
  const is_statement = /MT94|BAI2|OFX|CSV/.test(found)
  return is_statement ? 'The tool reconcile reads statements as camt.053, which banks also send. ' : ''
}

const EXAMPLE =
  '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>MSG-1</MsgId>' +
  '<CreDtTm>2026-11-21T10:00:00+01:00</CreDtTm><NbOfTxs>1</NbOfTxs><CtrlSum>1250.75</CtrlSum><InitgPty><Nm>Payer</Nm></InitgPty></GrpHdr>' +
  '<PmtInf><PmtInfId>PMT-1</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>false</BtchBookg><ReqdExctnDt><Dt>2026-11-23</Dt></ReqdExctnDt>' +
  '<Dbtr><Nm>Payer</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId>' +
  '<BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt><CdtTrfTxInf><PmtId><EndToEndId>E2E-1</EndToEndId></PmtId><Amt>' +
  '<InstdAmt Ccy="EUR">1250.75</InstdAmt></Amt><Cdtr><Nm>Creditor</Nm></Cdtr><CdtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></CdtrAcct>' +
  '</CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn></Document>'

export default defineTool({
  id: 'iso20022-validate',
  title: 'Validate an ISO 20022 message',
  description:
    'Validates ISO 20022 payment messages (pain, pacs, camt) in XML or JSON: structure of every version by its schema, control sums by exact ' +
    'decimals, check digits, addresses, rules of SEPA, CBPR+ and SPS. Each finding has code, severity, path, line, found and expected.',
  family: 'messages',
  version: '2.0.0',
  price: 'document',
  annotations: PURE,
  heavy: true,
  bounds: { body_bytes: limits.document_body_bytes },
  scope: {
    checked: [
      'well-formed XML 1.0 in UTF-8, no DOCTYPE; strict JSON with literals kept',
      'structure by the schemas of pain.001/002/007/008/013/014, pacs.002/003/004/007/008/009/010/028, camt.026–029/052–058/060, all versions',
      'counts and sums exactly; check digits of ISO 13616 and 17442; form of ISO 9362',
    ],
    not_checked: [
      'external code lists',
      'content of SplmtryData/Envlp, types named by xsi:type, completeness of the header AppHdr',
      'whether accounts, banks and parties exist',
      'usage guidelines of individual banks',
    ],
  },
  headline: [
    {
      when: { verdict: 'valid', 'finding_counts.warning': 0 },
      tone: 'good',
      word: 'valid',
      sentence: 'The message follows all rules of the profile {profile}.',
    },
    {
      when: { verdict: 'valid' },
      tone: 'good',
      word: 'valid',
      sentence: 'No errors in the profile {profile}; {finding_counts.warning|warning|warnings} to review.',
    },
    {
      when: { verdict: 'invalid' },
      tone: 'bad',
      word: 'invalid',
      sentence: '{finding_counts.error|error|errors} in the profile {profile}; each finding has its position and the expected value.',
    },
    {
      when: { verdict: 'undetermined' },
      tone: 'caution',
      word: 'undetermined',
      sentence: 'The message type or version is unknown, so nothing was checked.',
    },
  ],
  sources: [],
  input: z.strictObject({
    raw_payload: z.string().max(limits.document_body_bytes).describe('The message as text: XML or JSON. With transactions, any text.'),
    format: z.enum(['xml', 'json']).optional().describe('Format of the payload; default: detected by the first character.'),
    namespace: z.string().max(NAMESPACE_CHARS).optional().describe('Expected namespace, complete or short, for example pain.001.001.09.'),
    transactions: z
      .array(TRANSACTION)
      .max(TRANSACTIONS)
      .optional()
      .describe('Transactions to check in addition to the payload, or instead of it.'),
    profile: z.enum(MESSAGE_PROFILES).optional().describe('Market practice; default: detected by header, namespace or service level.'),
  }),
  output: z.strictObject({
    ok: z.boolean().describe('The same as valid.'),
    valid: z.boolean().nullable().describe('True when no finding is an error; null when the message type or version is unknown.'),
    verdict: z.enum(['valid', 'invalid', 'undetermined']).describe('valid as a word; undetermined for null.'),
    standard: z.literal(STANDARD).describe('Standard of the message.'),
    format: z.enum(['xml', 'json', 'transactions']).describe('Format that was checked.'),
    message_type: z.string().max(8).nullable().describe('Message type, for example pain.001, or null when unknown.'),
    version: z.string().nullable().describe('Version in two digits, for example 09, or null.'),
    namespace: z.string().nullable().describe('Namespace of the document.'),
    profile: z.enum(MESSAGE_PROFILES).describe('Profile whose rules were applied.'),
    profile_source: z.enum(['argument', 'business_service', 'namespace', 'service_level', 'default']).describe('Source of the profile.'),
    message_id: z.string().nullable().describe('MsgId of the group header.'),
    tx_count: COUNT.nullable().describe('Number of transactions, or of entries of a statement.'),
    ctrl_sum: z.string().nullable().describe('Exact sum of their amounts across currencies, for example 1250.75.'),
    ctrl_sum_minor: z.string().nullable().describe('The sum in minor units, when all amounts have one currency.'),
    currencies: z.array(z.string()).describe('Currencies of the amounts.'),
    findings: z.array(FINDING).describe('At most 200 findings, errors first when there are more.'),
    finding_counts: z
      .strictObject({ error: COUNT.describe('Errors.'), warning: COUNT.describe('Warnings.'), info: COUNT.describe('Notes.') })
      .describe('Number of findings by severity.'),
    truncated: z.boolean().describe('True when there are more findings than listed.'),
    receipt_digest: z.null().describe('Always null: the receipt covers this result, so its digest is outside it.'),
    data_as_of: DATA_AS_OF,
  }),
  example: { raw_payload: EXAMPLE },
  refuses(result) {
    if (result['valid'] !== null) return null
    const { valid, verdict } = result
    const found = foundInstead(result['namespace'], result['findings'])
    const known_messages = KNOWN_MESSAGES.filter((message) => message.startsWith(`${found.slice(0, 8)}.`))
    const known = known_messages.length === 0 ? `Known: ${KNOWN_TYPES}.` : `Known versions: ${known_messages.join(', ')}.`
    const sentence = `Found ${found}, not a message of a known type and version. Nothing was checked and nothing was charged. ${readerOf(found)}${known}`
    return new Refusal('MESSAGE_UNKNOWN', sentence, {
      extra: { valid, verdict, found, known_messages: known_messages.length === 0 ? MESSAGE_KINDS : known_messages },
    })
  },
  async run({ raw_payload, format, namespace, transactions, profile }) {
    const { validateMessage } = await import('../../pure/documents/iso20022/validate.ts')
    const { ISO20022_RULES } = await import('../../pure/documents/iso20022/rules-table.ts')
    const answer = validateMessage({
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
      data_as_of: { ...IBAN_DATA_AS_OF, ...CURRENCY_DATA_AS_OF, iso20022_rules: ISO20022_RULES.date() },
    }
  },
})
