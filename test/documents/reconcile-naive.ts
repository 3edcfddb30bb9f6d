import type { BankEntry, PaymentInstruction } from '../../src/pure/documents/reconcile/records.ts'

/**
 * The rules once more, as plainly as they can be written: lists, filters, every pair looked at. It knows statements, not ACH files, and one
 * account on each side.
 */

export interface NaiveVerdict {
  verdict: string
  kind: string | null
  basis: string
}

interface Group {
  instructions: PaymentInstruction[]
  entries: BankEntry[]
}

const PLACEHOLDERS = ['', 'NOTPROVIDED', 'NONREF']
const id = (text: string | null) => (text === null || PLACEHOLDERS.includes(text) ? null : text)
const fold = (text: string | null) => (id(text) === null ? null : (id(text) ?? '').toUpperCase().replaceAll(' ', ''))
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n)
const fits = (instruction: PaymentInstruction, entry: BankEntry) =>
  entry.account === null || entry.account === instruction.debtor_account || entry.account === instruction.creditor_account
const AMBIGUOUS: NaiveVerdict = { verdict: 'UNPAID', kind: '', basis: 'ambiguous' }
const unpaid = (kind: string): NaiveVerdict => ({ verdict: 'UNPAID', kind, basis: 'none' })

export function naive(instructions: readonly PaymentInstruction[], entries: readonly BankEntry[]) {
  const live = entries.filter(({ status }) => status === 'BOOK')
  const targets = new Map<BankEntry, PaymentInstruction[]>()
  const folded = new Set<BankEntry>()
  const contested = new Map<PaymentInstruction, string>()
  const closed = new Set<BankEntry>()
  const open = () => live.filter((entry) => !targets.has(entry) && !closed.has(entry))

  for (const entry of live) {
    const found = instructions.filter(
      (one) => id(one.end_to_end_id) !== null && one.end_to_end_id === id(entry.end_to_end_id) && fits(one, entry),
    )
    if (found.length > 0) targets.set(entry, found)
  }
  for (const name of ['uetr', 'instruction_id'] as const) {
    const spoken = new Set([...targets.values()].flat())
    for (const entry of open()) {
      const all = instructions.filter((one) => one[name] !== null && one[name] === entry[name])
      const identified = name === 'instruction_id' && id(entry.end_to_end_id) !== null
      const usable = all.filter((one) => fits(one, entry))
      if (all.length === 1) {
        const found = usable.filter((one) => !(identified && id(one.end_to_end_id) !== null))
        if (found.length > 0) targets.set(entry, found)
      } else if (!identified) {
        const found = usable.filter((one) => !spoken.has(one))
        if (found.length > 0) targets.set(entry, found)
      }
    }
  }
  const spoken = new Set([...targets.values()].flat())
  for (const key of new Set(open().map(({ end_to_end_id }) => fold(end_to_end_id)))) {
    if (key === null) continue
    const asked = instructions.filter((one) => fold(one.end_to_end_id) === key)
    const told = open().filter((one) => fold(one.end_to_end_id) === key)
    if (asked.length === 0) continue
    const payments = live.filter((one) => fold(one.end_to_end_id) === key && !one.returned)
    const [only] = asked
    if (only !== undefined && asked.length === 1 && payments.length <= 1) {
      for (const entry of told) {
        if (!fits(only, entry)) continue
        targets.set(entry, [only])
        folded.add(entry)
      }
      continue
    }
    for (const entry of told) closed.add(entry)
    for (const one of asked) if (!spoken.has(one)) contested.set(one, 'unclear_id')
  }
  const coverage = batches(instructions, open(), new Set([...targets.values(), [...contested.keys()]].flat()))
  for (const one of coverage.contested) contested.set(one, 'batch_total')

  const verdicts = new Map<PaymentInstruction, NaiveVerdict>()
  const matched = new Set<BankEntry>(coverage.matched)
  for (const group of groupsOf(instructions, targets)) {
    for (const [one, own] of share(group, coverage.times) ?? []) {
      const why = contested.get(one)
      const found =
        why === undefined ? judge(one, own, coverage.times.get(one) ?? null, folded, entries, live) : { ...AMBIGUOUS, kind: why }
      verdicts.set(one, found)
      if (found.basis !== 'ambiguous' && found.kind !== 'wrong_direction') for (const entry of own) matched.add(entry)
    }
    for (const one of group.instructions) {
      if (verdicts.has(one)) continue
      const against = group.entries.every((entry) => entry.direction === 'CRDT' && !entry.returned)
      verdicts.set(one, against ? unpaid('wrong_direction') : { ...AMBIGUOUS, kind: 'shared_id' })
    }
  }
  return { verdicts: instructions.map((one) => verdicts.get(one)), matched }
}

/** Instructions that any entry names together, with all entries that name one of them. */
function groupsOf(instructions: readonly PaymentInstruction[], targets: ReadonlyMap<BankEntry, PaymentInstruction[]>): Group[] {
  let groups: Group[] = instructions.map((one) => ({ instructions: [one], entries: [] }))
  for (const [entry, found] of targets) {
    const touched = groups.filter((group) => group.instructions.some((one) => found.includes(one)))
    const joined = {
      instructions: touched.flatMap((group) => group.instructions),
      entries: [...touched.flatMap((group) => group.entries), entry],
    }
    groups = [...groups.filter((group) => !touched.includes(group)), joined]
  }
  return groups
}

/** Which entries are whose; null when it cannot be told. */
function share(
  { instructions, entries }: Group,
  times: ReadonlyMap<PaymentInstruction, bigint>,
): [PaymentInstruction, BankEntry[]][] | null {
  const [first] = instructions
  if (first !== undefined && instructions.length === 1) return [[first, entries]]
  if (entries.every((entry) => entry.direction === 'CRDT' && !entry.returned)) return null
  if (instructions.some((one) => times.has(one))) return null
  for (const name of ['uetr', 'instruction_id'] as const) {
    const owners = (entry: BankEntry) => instructions.filter((one) => entry[name] !== null && one[name] === entry[name])
    if (entries.every((entry) => owners(entry).length === 1)) {
      return instructions.map((one) => [one, entries.filter((entry) => entry[name] === one[name])])
    }
  }
  if (entries.some((entry) => entry.returned || entry.direction === 'CRDT')) return null
  const like = ({ currency, amount_minor }: { currency: string; amount_minor: bigint }) => `${currency} ${amount_minor}`
  const left = [...entries]
  const pairs: [PaymentInstruction, BankEntry[]][] = []
  for (const one of instructions) {
    const at = left.findIndex((entry) => like(entry) === like(one))
    if (at === -1) return null
    pairs.push([one, left.splice(at, 1)])
  }
  return left.length === 0 ? pairs : null
}

/** By the end-to-end id, folded or not, by the UETR, or by the instruction id where one side has nothing better. */
function speaksOf(one: PaymentInstruction, entry: BankEntry): boolean {
  const [asked, told] = [fold(one.end_to_end_id), fold(entry.end_to_end_id)]
  if (asked !== null && asked === told) return true
  if (one.uetr !== null && one.uetr === entry.uetr) return true
  return (asked === null || told === null) && one.instruction_id !== null && one.instruction_id === entry.instruction_id
}

function judge(
  one: PaymentInstruction,
  own: readonly BankEntry[],
  times: bigint | null,
  folded: ReadonlySet<BankEntry>,
  all: readonly BankEntry[],
  live: readonly BankEntry[],
): NaiveVerdict {
  if (own.length === 0 && times === null) {
    const key = id(one.end_to_end_id)
    if (all.some((entry) => ['PDNG', 'INFO'].includes(entry.status) && fits(one, entry) && speaksOf(one, entry))) return unpaid('pending')
    return unpaid(key !== null && live.some((entry) => entry.end_to_end_id === key && !fits(one, entry)) ? 'other_account' : 'not_found')
  }
  const forward = own.filter(({ direction }) => direction === 'DBIT')
  const back = own.filter(({ direction }) => direction === 'CRDT')
  if (forward.length === 0 && times === null && back.every(({ returned }) => !returned)) return unpaid('wrong_direction')
  const marked = forward.filter(({ returned }) => returned)
  const amounts = (list: readonly BankEntry[]) => sum(list.map(({ amount_minor }) => amount_minor))
  if (marked.length > 0 && amounts(marked) > amounts(back)) return { ...AMBIGUOUS, kind: 'reversal_sign' }
  if (own.some(({ currency }) => currency !== one.currency)) return { verdict: 'AMOUNT_MISMATCH', kind: 'currency', basis: 'exact' }
  const end = (values: readonly bigint[], charged: boolean): NaiveVerdict => {
    const paid = times !== null && times > 0n ? times : 0n
    const returns = back.length > 0 || (times !== null && times <= 0n)
    const net = sum(values) - amounts(back) + (times ?? 0n) * one.amount_minor
    const full = BigInt(values.filter((value) => value === one.amount_minor).length) + paid
    const basis = basisOf({
      charged,
      returns,
      count: BigInt(values.length) + paid,
      full,
      folded: own.some((entry) => folded.has(entry)),
      batch: times !== null,
    })
    if (returns && net <= 0n) return { verdict: 'UNPAID', kind: 'returned', basis }
    if (net === one.amount_minor) return { verdict: 'SETTLED', kind: null, basis }
    if (full >= 2n && net >= 2n * one.amount_minor) return { verdict: 'DUPLICATE_PAYMENT', kind: null, basis }
    return { verdict: 'AMOUNT_MISMATCH', kind: net > one.amount_minor ? 'over' : returns ? 'partly_returned' : 'under', basis }
  }
  const plain = end(
    forward.map(({ amount_minor }) => amount_minor),
    false,
  )
  const charges = sum(forward.map(({ charges_minor }) => charges_minor))
  if (plain.verdict !== 'AMOUNT_MISMATCH' || charges === 0n) return plain
  const gross = end(
    forward.map(({ amount_minor, charges_minor }) => amount_minor - charges_minor),
    true,
  )
  return gross.verdict === 'AMOUNT_MISMATCH' ? plain : gross
}

function basisOf({
  charged,
  returns,
  count,
  full,
  folded,
  batch,
}: {
  charged: boolean
  returns: boolean
  count: bigint
  full: bigint
  folded: boolean
  batch: boolean
}): string {
  if (charged) return 'net_of_charges'
  if (returns && count > 0n) return 'net_of_returns'
  if (batch) return 'batch'
  if (folded) return 'folded'
  return count > 1n && full < count ? 'split' : 'exact'
}

/** One debtor account and one message: a cell is a block and a currency. */
function batches(instructions: readonly PaymentInstruction[], open: readonly BankEntry[], hit: ReadonlySet<PaymentInstruction>) {
  const times = new Map<PaymentInstruction, bigint>()
  const contested: PaymentInstruction[] = []
  const matched: BankEntry[] = []
  const candidates = open.filter(
    (entry) => id(entry.end_to_end_id) === null && entry.uetr === null && entry.payment_information_id !== null,
  )
  const keys = new Set(candidates.map((entry) => `${entry.payment_information_id} ${entry.currency}`))
  for (const key of keys) {
    const of = ({ payment_information_id, currency }: PaymentInstruction | BankEntry) => `${payment_information_id} ${currency}` === key
    const cell = instructions.filter(of)
    const [first] = cell
    if (first === undefined) continue
    const told = candidates.filter((entry) => of(entry) && (entry.account === null || entry.account === first.debtor_account))
    if (told.length === 0) continue
    const signed = told.map(({ direction, amount_minor }) => (direction === 'DBIT' ? amount_minor : -amount_minor))
    const total = sum(cell.map(({ amount_minor }) => amount_minor))
    const free = cell.filter((one) => !hit.has(one))
    const whole = signed.every((one) => one === total || one === -total)
    const found = whole ? sum(signed) / total : sum(signed) === total ? 1n : null
    if (found !== null) for (const one of cell) times.set(one, found)
    else if (free.length > 0 && sum(signed) === sum(free.map(({ amount_minor }) => amount_minor)))
      for (const one of free) times.set(one, 1n)
    else {
      contested.push(...free)
      continue
    }
    matched.push(...told)
  }
  return { times, contested, matched }
}
