/**
 * Information to the account owner (field 86 of MT940, also texts of other formats). Banks write it in one of three ways: subfields with a
 * separator and two digits (`166?00…?20EREF+…`, the German standard), tags between slashes (`/EREF/…/REMI/…`, Dutch and Belgian banks), or
 * plain text, which may have SEPA tags (`EREF+…`).
 */
export interface OwnerInformation {
  /** Business transaction code of the German standard, three digits. */
  code: string | null
  end_to_end_id: string | null
  customer_reference: string | null
  uetr: string | null
  name: string | null
  account: string | null
  creditor_references: string[]
  return_reason: string | null
  texts: string[]
}

const NOTHING: OwnerInformation = {
  code: null,
  end_to_end_id: null,
  customer_reference: null,
  uetr: null,
  name: null,
  account: null,
  creditor_references: [],
  return_reason: null,
  texts: [],
}

/** Lines of one field. Structured forms are cut at a fixed width, so their lines are joined without a blank. */
export function readInformation(lines: readonly string[]): OwnerInformation {
  const joined = lines.join('').slice(0, MAX_CHARS)
  const german = /^([0-9]{3})([^A-Za-z0-9\s])[0-9]{2}/.exec(joined)
  if (german !== null) return readSubfields(joined, german[1] ?? '', german[2] ?? '?')
  if (SLASH_TAG.test(joined)) return readSlashTags(joined)
  const texts = lines.map((line) => line.trim()).filter((line) => line !== '')
  return { ...NOTHING, ...readSepaTags(texts.join(' ')), texts }
}

const MAX_CHARS = 8_192

/** Subfields: 00 booking text, 10 number, 20-29 and 60-63 remittance, 30 bank, 31 account, 32-33 name, 34 text key. */
function readSubfields(text: string, code: string, separator: string): OwnerInformation {
  const fields = new Map<string, string>()
  for (const part of text.slice(code.length).split(separator)) {
    const key = part.slice(0, 2)
    if (/^[0-9]{2}$/.test(key)) fields.set(key, part.slice(2))
  }
  const inOrder = (keys: readonly string[]) => keys.map((key) => fields.get(key) ?? '')
  const parts = inOrder(REMITTANCE_FIELDS)
  // A value continues in the next subfield only if it fills its own.
  const tags = readSepaTags(parts.map((part) => (part.length >= SUBFIELD_CHARS ? part : `${part}\n`)).join(''))
  const name = inOrder(['32', '33']).join('').trim()
  const account = (fields.get('31') ?? '').trim()
  return {
    ...NOTHING,
    ...tags,
    code,
    name: name === '' ? tags.name : name,
    account: account === '' ? tags.account : account,
    texts: tags.texts.length > 0 ? tags.texts : [parts.join('').trim()].filter((part) => part !== ''),
  }
}

/** Length of a full subfield. */
const SUBFIELD_CHARS = 27

const REMITTANCE_FIELDS = ['20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '60', '61', '62', '63'] as const

const SEPA_TAG = /\b(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|IBAN|BIC|COAM|OAMT|PURP|BREF|RREF|RETR|MDAT)(?:\+|: )/g

type TaggedTexts = Pick<
  OwnerInformation,
  'end_to_end_id' | 'customer_reference' | 'name' | 'account' | 'texts' | 'return_reason' | 'creditor_references'
>

/** SEPA tags inside remittance text; the text before the first tag stays text. */
function readSepaTags(text: string): TaggedTexts {
  const found = [...text.matchAll(SEPA_TAG)]
  const values = new Map<string, string>()
  const before = (found.length === 0 ? text : text.slice(0, found[0]?.index ?? 0)).replaceAll('\n', '').trim()
  const texts = [before]
  for (const [index, one] of found.entries()) {
    const [, tag = ''] = one
    const value = text.slice(one.index + one[0].length, found[index + 1]?.index ?? text.length)
    const [own = '', ...others] = tag === 'SVWZ' ? [value.replaceAll('\n', '')] : value.split('\n')
    if (tag === 'SVWZ') texts.push(own.trim())
    else if (!values.has(tag)) values.set(tag, own.trim())
    texts.push(others.join('').trim())
  }
  return {
    end_to_end_id: values.get('EREF') || null,
    customer_reference: values.get('KREF') || null,
    name: values.get('ABWA') ?? null,
    account: values.get('IBAN') ?? null,
    return_reason: values.get('RETR') ?? null,
    creditor_references: creditorReferences(texts.join(' ')),
    texts: texts.filter((part) => part !== ''),
  }
}

const SLASH_TAG =
  /^\/?\/(EREF|REMI|NAME|IBAN|BIC|TRTP|CSID|MARF|ORDP|BENM|PREF|TRCD|RTRN|CNTP|KREF|CREF|PURP|UETR|ADDR|ID|ISDT|ULTC|ULTD|BUSP)\//
const SLASH_TAGS =
  /\/(EREF|REMI|NAME|IBAN|BIC|TRTP|CSID|MARF|ORDP|BENM|PREF|TRCD|RTRN|CNTP|KREF|CREF|PURP|UETR|ADDR|ID|ISDT|ULTC|ULTD|BUSP)\//g

function withoutOuterSlashes(text: string): string {
  let [from, to] = [0, text.length]
  while (text[from] === '/') from++
  while (to > from && text[to - 1] === '/') to--
  return text.slice(from, to)
}

function readSlashTags(text: string): OwnerInformation {
  const found = [...text.matchAll(SLASH_TAGS)]
  const values = new Map<string, string>()
  for (const [index, one] of found.entries()) {
    const end = found[index + 1]?.index ?? text.length
    const value = withoutOuterSlashes(text.slice(one.index + one[0].length, Math.max(end, one.index + one[0].length))).trim()
    if (value !== '' && !values.has(one[1] ?? '')) values.set(one[1] ?? '', value)
  }
  // Counterparty: account, bank, name and city between slashes.
  const [account, , name] = (values.get('CNTP') ?? '').split('/')
  const remittance = values.get('REMI') ?? ''
  const structured = /^STRD\/(?:CUR|ISO)\/(.+)$/.exec(remittance)?.[1]
  const plain = remittance.replace(/^USTD\/\/?/, '').trim()
  return {
    ...NOTHING,
    end_to_end_id: values.get('EREF') ?? null,
    customer_reference: values.get('KREF') ?? values.get('PREF') ?? null,
    uetr: values.get('UETR') ?? null,
    name: values.get('NAME') ?? (name === undefined || name === '' ? null : name),
    account: values.get('IBAN') ?? (account === undefined || account === '' ? null : account),
    creditor_references: structured === undefined ? creditorReferences(plain) : [structured],
    return_reason: values.get('RTRN') ?? null,
    texts: plain === '' ? [] : [plain],
  }
}

/** Creditor references in running text (ISO 11649, and the Swiss reference of 27 digits). */
export function creditorReferences(text: string): string[] {
  return (text.match(/\bRF[0-9]{2}[0-9A-Z]{1,21}\b|\b[0-9]{27}\b/g) ?? []).slice(0, 8)
}
