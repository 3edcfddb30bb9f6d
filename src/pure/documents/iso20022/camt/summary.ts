/** The totals that a statement states of its entries, held against what the entries make. */
import { decimalText, equalsSum } from '../decimal.ts'
import type { Place } from '../findings.ts'
import type { RuleContext, Watcher } from '../rule-engine.ts'
import type { RuleCode } from '../rule-table.ts'
import { type BankCode, bankCodeKeys, bankCodeTexts, clearBankCode, type Direction, directionOf, isTrue, newBankCode } from './codes.ts'
import { type Statement, Tally } from './statement.ts'

const SUMMARY = 'Stmt/TxsSummry'
const PER_CODE = `${SUMMARY}/TtlNtriesPerBkTxCd`
/** Codes of a statement whose totals are checked. */
const CODES = 1_000

interface Stated {
  text: string
  place: Place
}

/** Number and sum of some entries. */
interface Figures {
  count: Stated | null
  sum: Stated | null
}

interface StatedTotals {
  readonly all: Figures
  readonly credit: Figures
  readonly debit: Figures
  net: Stated | null
  net_direction: Direction
}

function noTotals(): StatedTotals {
  const none = (): Figures => ({ count: null, sum: null })
  return { all: none(), credit: none(), debit: none(), net: null, net_direction: '' }
}

/** What the entries make: all of them, and the booked ones. Banks differ in which of the two they state. */
interface Made {
  readonly all: Tally
  readonly booked: Tally
}

interface CodeTotals extends Made {
  readonly stated: StatedTotals
}

type Report = (stated: Stated, code: RuleCode, expected: string) => void

export class Summary {
  private stated = noTotals()
  /** By the name of the code; null where it is stated in parts. */
  private readonly codes = new Map<string, CodeTotals | null>()

  clear(): void {
    this.stated = noTotals()
    this.codes.clear()
  }

  /** An entry is over. */
  add(code: BankCode, direction: Direction, amount: bigint, booked: boolean): void {
    if (this.codes.size === 0) return
    for (const key of bankCodeKeys(code)) {
      const made = this.codes.get(key) ?? null
      if (made === null) continue
      made.all.add(direction, amount)
      if (booked) made.booked.add(direction, amount)
    }
  }

  watcher(context: RuleContext, statement: Statement): Watcher {
    const main = figureTexts(context, SUMMARY, () => this.stated)
    const inner = this.codeWatcher(context)
    return {
      open: { Stmt: () => this.clear(), ...inner.open },
      text: { ...main, ...inner.text },
      close: { ...inner.close, Stmt: () => this.check(context, statement) },
    }
  }

  private codeWatcher(context: RuleContext): Watcher {
    const code = newBankCode()
    let stated = noTotals()
    let forecast = false
    return {
      open: {
        [PER_CODE]: () => {
          stated = noTotals()
          forecast = false
          clearBankCode(code)
        },
      },
      text: {
        ...codeFigureTexts(context, () => stated),
        [`${PER_CODE}/FcstInd`]: (text) => void (forecast = isTrue(text)),
        ...bankCodeTexts(`${PER_CODE}/BkTxCd`, code),
      },
      close: {
        [PER_CODE]: () => {
          const [key = '|'] = bankCodeKeys(code)
          // Nothing is known of entries to come.
          if (forecast || key === '|' || this.codes.size >= CODES) return
          this.codes.set(key, this.codes.has(key) ? null : { stated, all: new Tally(), booked: new Tally() })
        },
      },
    }
  }

  private check(context: RuleContext, statement: Statement): void {
    const report: Report = (stated, code, expected) => context.reportAt(stated.place, code, { found: stated.text, expected })
    const { undecided } = statement
    checkTotals(this.stated, statement, undecided, report)
    for (const totals of this.codes.values()) {
      if (totals !== null)
        checkTotals(totals.stated, totals, undecided, (stated, _code, expected) => report(stated, 'S_SUM_BKTXCD', expected))
    }
  }
}

function figureTexts(context: RuleContext, path: string, of: () => StatedTotals): Record<string, (text: string) => void> {
  return {
    ...pairTexts(context, `${path}/TtlNtries`, () => of().all),
    ...pairTexts(context, `${path}/TtlCdtNtries`, () => of().credit),
    ...pairTexts(context, `${path}/TtlDbtNtries`, () => of().debit),
    ...netTexts(context, `${path}/TtlNtries`, of),
  }
}

function codeFigureTexts(context: RuleContext, of: () => StatedTotals): Record<string, (text: string) => void> {
  return {
    ...pairTexts(context, PER_CODE, () => of().all),
    ...pairTexts(context, `${PER_CODE}/CdtNtries`, () => of().credit),
    ...pairTexts(context, `${PER_CODE}/DbtNtries`, () => of().debit),
    ...netTexts(context, PER_CODE, of),
  }
}

function pairTexts(context: RuleContext, path: string, of: () => Figures): Record<string, (text: string) => void> {
  return {
    [`${path}/NbOfNtries`]: (text) => void (of().count = { text, place: context.place() }),
    [`${path}/Sum`]: (text) => void (of().sum = { text, place: context.place() }),
  }
}

/** In version 02 amount and direction stand beside the others, later in an element of their own. */
function netTexts(context: RuleContext, path: string, of: () => StatedTotals): Record<string, (text: string) => void> {
  const amount = (text: string) => void (of().net = { text, place: context.place() })
  const direction = (text: string) => void (of().net_direction = directionOf(text))
  return {
    [`${path}/TtlNetNtryAmt`]: amount,
    [`${path}/CdtDbtInd`]: direction,
    [`${path}/TtlNetNtry/Amt`]: amount,
    [`${path}/TtlNetNtry/CdtDbtInd`]: direction,
  }
}

function checkTotals(stated: StatedTotals, made: Made, undecided: boolean, report: Report): void {
  checkFigures(stated.all, made, undecided, 'S_SUM_TTL', report, {
    count: ({ credits, debits }) => credits + debits,
    sum: ({ credit, debit }) => credit + debit,
  })
  checkFigures(stated.credit, made, undecided, 'S_SUM_CDT', report, { count: ({ credits }) => credits, sum: ({ credit }) => credit })
  checkFigures(stated.debit, made, undecided, 'S_SUM_DBT', report, { count: ({ debits }) => debits, sum: ({ debit }) => debit })
  const { net, net_direction } = stated
  if (net === null || undecided || [made.all, made.booked].some((tally) => isNet(net.text, net_direction, tally.net()))) return
  const all = made.all.net()
  const expected = all < 0n ? `${decimalText(-all, 2)} DBIT` : `${decimalText(all, 2)} CRDT`
  report({ text: `${net.text.trim()} ${net_direction}`.trimEnd(), place: net.place }, 'S_SUM_NET', expected)
}

interface Measures {
  count: (tally: Tally) => number
  sum: (tally: Tally) => bigint
}

function checkFigures({ count, sum }: Figures, made: Made, undecided: boolean, code: RuleCode, report: Report, of: Measures): void {
  const tallies = [made.all, made.booked]
  if (undecided) return
  if (count !== null && !tallies.some((tally) => BigInt(count.text) === BigInt(of.count(tally)))) {
    report(count, code, String(of.count(made.all)))
  }
  if (sum !== null && !tallies.some((tally) => equalsSum(sum.text, of.sum(tally)))) report(sum, code, decimalText(of.sum(made.all), 2))
}

/** Without a direction, an amount may have a sign or none. */
function isNet(text: string, direction: Direction, net: bigint): boolean {
  switch (direction) {
    case 'CRDT':
      return equalsSum(text, net)
    case 'DBIT':
      return equalsSum(text, -net) || (net < 0n && equalsSum(text, net))
    case '':
      return equalsSum(text, net) || equalsSum(text, -net)
  }
}
