import type { Batch } from './batch.ts'
import { likelyDirection, returnKind, transactionCode, type TransactionUse } from './codes.ts'
import { ADDENDA, cut, cutTrimmed, ENTRY, ENTRY_VARIANT, type Place } from './layout.ts'
import { referencesIn } from './payment-info.ts'
import type { NachaDirection, NachaEntry, NachaKind } from './types.ts'
import { areDigits } from './values.ts'

/** More addenda than this are counted but not kept; no class has more. */
const MAX_KEPT_INFOS = 9_999

/** An entry whose addenda may still be coming. */
export interface OpenEntry {
  line: number
  record: string
  kind: NachaKind
  code: string
  use: TransactionUse | null
  direction: NachaDirection | null
  amount_minor: bigint | null
  rdfi: string
  trace: string
  addenda: number
  /** How many of type 05, 17 and 18 came. */
  numbered: Record<'05' | '17' | '18', number>
  /** The one of the seven international addenda that should come next; 17 when all came. */
  iat_next: number
  iat_faulty: boolean
  iat_name: string
  /** Payment information, 80 columns each. */
  infos: string[]
  /** The last addenda 98 and 99. */
  change: string | null
  returned: string | null
}

export function openEntry(record: string, line: number, batch: Batch): OpenEntry {
  const code = cut(record, ENTRY.transaction_code)
  const amount = cut(record, amountPlace(batch))
  return {
    line,
    record,
    kind: 'forward',
    code,
    use: transactionCode(code)?.use ?? null,
    direction: likelyDirection(code),
    amount_minor: areDigits(amount) ? BigInt(amount) : null,
    rdfi: cut(record, ENTRY.rdfi),
    trace: cut(record, ENTRY.trace),
    addenda: 0,
    numbered: { '05': 0, '17': 0, '18': 0 },
    iat_next: 10,
    iat_faulty: false,
    iat_name: '',
    infos: [],
    change: null,
    returned: null,
  }
}

export function amountPlace(batch: Batch): Place {
  return batch.rules?.advice === true ? ENTRY_VARIANT.adv_amount : ENTRY.amount
}

export function keepInfo(entry: OpenEntry, record: string): void {
  if (entry.infos.length < MAX_KEPT_INFOS) entry.infos.push(cut(record, ADDENDA.payment_info))
}

/** Where account, id and name of the receiver stand; null for what the class has not. */
function places({ sec, rules }: Batch): { account: Place; id: Place | null; name: Place | null } {
  if (sec === 'IAT') return { account: ENTRY_VARIANT.iat_account, id: null, name: null }
  if (sec === 'CIE') return { account: ENTRY.account, id: ENTRY_VARIANT.cie_id, name: ENTRY_VARIANT.cie_name }
  if (rules?.advice === true) return { account: ENTRY_VARIANT.adv_account, id: null, name: ENTRY.name }
  const name = rules?.addenda_count === ENTRY_VARIANT.exchange_addenda ? ENTRY_VARIANT.exchange_name : ENTRY.name
  return { account: ENTRY.account, id: ENTRY.individual_id, name }
}

/** The entry as the caller gets it. */
export function entryRead(entry: OpenEntry, batch: Batch): NachaEntry {
  const { record, change, returned } = entry
  const { account, id, name } = places(batch)
  return {
    line: entry.line,
    batch_line: batch.line,
    batch_number: batch.number,
    service_class: batch.service_class,
    company_id: batch.company_id,
    company_name: batch.company_name,
    description: batch.description,
    sec: batch.sec,
    kind: entry.kind,
    direction: entry.direction,
    transaction_code: entry.code,
    amount_minor: entry.amount_minor,
    prenote: entry.use === 'prenote',
    trace: entry.trace.trim(),
    individual_id: id === null ? '' : cutTrimmed(record, id),
    name: name === null ? entry.iat_name : cutTrimmed(record, name),
    rdfi: cut(record, ENTRY.routing),
    odfi: batch.odfi,
    account: cutTrimmed(record, account),
    effective_date: batch.effective_date,
    settlement_julian: batch.settlement_julian,
    payment_infos: entry.infos.map((info) => info.trimEnd()),
    references: referencesIn(entry.infos),
    ...originalRead(change, returned, batch.international),
  }
}

type OriginalFields = 'return_code' | 'return_kind' | 'change_code' | 'corrected_data' | 'original_trace' | 'original_rdfi'

function originalRead(change: string | null, returned: string | null, international: boolean): Pick<NachaEntry, OriginalFields> {
  const last = returned ?? change
  return {
    return_code: returned === null ? null : cut(returned, ADDENDA.code),
    return_kind: returned === null ? null : returnKind(cut(returned, ADDENDA.code)),
    change_code: change === null ? null : cut(change, ADDENDA.code),
    corrected_data: change === null ? null : cutTrimmed(change, international ? ADDENDA.iat_corrected_data : ADDENDA.corrected_data),
    original_trace: last === null ? null : cutTrimmed(last, ADDENDA.original_trace),
    original_rdfi: last === null ? null : cutTrimmed(last, ADDENDA.original_rdfi),
  }
}
