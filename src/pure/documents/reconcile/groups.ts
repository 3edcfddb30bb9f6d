import type { Ints } from './columns.ts'

/** Instructions joined into groups that can only be judged together. */
export class Groups {
  private readonly parents: Int32Array

  constructor(size: number) {
    this.parents = Int32Array.from({ length: size }, (_, index) => index)
  }

  /** The least member of the group, so that it does not depend on the order of joins. */
  root(member: number): number {
    const { parents } = this
    let root = member
    for (let next = parents[root] ?? root; next !== root; next = parents[root] ?? root) root = next
    for (let at = member; at !== root;) {
      const next = parents[at] ?? root
      parents[at] = root
      at = next
    }
    return root
  }

  join(one: number, other: number): void {
    const [first, second] = [this.root(one), this.root(other)]
    if (first < second) this.parents[second] = first
    else this.parents[first] = second
  }
}

/** Rows by the number in a column, chained: two integers a row instead of a list a key. */
export class KeyIndex {
  private readonly heads: Int32Array
  private readonly nexts: Int32Array

  /** Rows whose number is 0, or that are not admitted, are left out. `keys` is the size of the pool. */
  constructor(column: Ints, rows: number, keys: number, admits: ((row: number) => boolean) | null = null) {
    this.heads = new Int32Array(keys).fill(-1)
    this.nexts = new Int32Array(rows)
    for (let row = rows - 1; row >= 0; row--) {
      const key = column.get(row)
      if (key <= 0 || admits?.(row) === false) continue
      this.nexts[row] = this.heads[key] ?? -1
      this.heads[key] = row
    }
  }

  /** The first row of this key, -1 for none. */
  first(key: number): number {
    return key < this.heads.length ? (this.heads[key] ?? -1) : -1
  }

  /** The next row of the same key. */
  next(row: number): number {
    return this.nexts[row] ?? -1
  }
}
