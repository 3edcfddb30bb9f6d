/** A seeded source of choices. Each case of a fuzz test has its own, so that a failing one can be repeated alone by its number. */
export interface Random {
  /** A whole number from 0 to n - 1. */
  below(n: number): number
  pick<Item>(list: readonly Item[]): Item
  chance(share: number): boolean
  bytes(length: number): Buffer
}

/** The generator sfc32 of PractRand, warmed up as its author advises. */
export function seeded(seed: number, index = 0): Random {
  let [a, b, c, count] = [seed | 0, index | 0, 0x9e3779b9 | 0, 1]
  const next = (): number => {
    const sum = (((a + b) | 0) + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 12; round++) next()
  const below = (n: number) => next() % n
  return {
    below,
    pick<Item>(list: readonly Item[]): Item {
      const item = list[below(list.length)]
      if (item === undefined) throw new Error('there is nothing to choose from')
      return item
    },
    chance: (share) => next() < share * 2 ** 32,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  }
}
