import type { PriceMark, Sale } from '../../src/ports/payments.ts'
import type { PriceStore } from '../../src/service/payments/price-book.ts'

/** What prices need of a store, in memory, with its own clock, its own faults and a count of what it was asked. */
export interface MemoryPriceStore extends PriceStore {
  asked: { sales: number; price_marks: number; mark_prices: number; now_ms: number }
  /** While set, everything is rejected. */
  down: boolean
  time_ms: number
  /** Runs before the sales are handed out. */
  beforeSales: (() => void) | null
  sell(price_class: string, epoch: number, payers: number): void
  purge(before_epoch: number): void
  marks: PriceMark[]
}

export function memoryPriceStore(time_ms: number): MemoryPriceStore {
  const sold = new Map<string, Sale>()
  const store: MemoryPriceStore = {
    asked: { sales: 0, price_marks: 0, mark_prices: 0, now_ms: 0 },
    down: false,
    time_ms,
    beforeSales: null,
    marks: [],
    sell(price_class, epoch, payers) {
      const key = `${price_class}|${epoch}`
      sold.set(key, { price_class, epoch, payers: (sold.get(key)?.payers ?? 0) + payers })
    },
    purge(before_epoch) {
      for (const [key, { epoch }] of sold) if (epoch < before_epoch) sold.delete(key)
      store.marks = store.marks.filter(({ epoch }) => epoch >= before_epoch)
    },
    now_ms: () => answer('now_ms', () => store.time_ms),
    payments: {
      sales: (from_epoch) =>
        answer('sales', () => {
          store.beforeSales?.()
          return [...sold.values()].filter(({ epoch }) => epoch >= from_epoch)
        }),
      price_marks: (epoch) => answer('price_marks', () => newestMarks(store.marks, epoch)),
      mark_prices: (marks) =>
        answer('mark_prices', () => {
          for (const mark of marks) if (!store.marks.some((one) => isSame(one, mark))) store.marks.push(mark)
        }),
    },
  }
  async function answer<Value>(name: keyof typeof store.asked, compute: () => Value): Promise<Value> {
    store.asked[name]++
    if (store.down) throw new Error('the store is down')
    await Promise.resolve()
    return compute()
  }
  return store
}

function isSame(one: PriceMark, other: PriceMark): boolean {
  return one.price_class === other.price_class && one.epoch === other.epoch
}

function newestMarks(marks: readonly PriceMark[], epoch: number): PriceMark[] {
  const newest = new Map<string, PriceMark>()
  for (const mark of marks.filter((one) => one.epoch <= epoch).toSorted((a, b) => a.epoch - b.epoch)) newest.set(mark.price_class, mark)
  return [...newest.values()]
}
