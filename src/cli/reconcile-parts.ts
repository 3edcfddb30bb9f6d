import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const BLOCK_CHARS = 16_384
const READ_BYTES = 65_536

/** Files of lines in a folder of their own, which is gone when it is closed. */
export class Parts {
  private readonly folder = mkdtempSync(join(tmpdir(), 'assay-reconcile-'))
  private readonly open = new Map<string, { file: number; block: string }>()

  append(name: string, line: string): void {
    let part = this.open.get(name)
    if (part === undefined) this.open.set(name, (part = { file: openSync(join(this.folder, name), 'w'), block: '' }))
    part.block += `${line}\n`
    if (part.block.length >= BLOCK_CHARS) flush(part)
  }

  has(name: string): boolean {
    return this.open.has(name)
  }

  /** The lines written so far; none of a part that was never written. */
  *lines(name: string): Generator<string> {
    const part = this.open.get(name)
    if (part === undefined) return
    flush(part)
    const file = openSync(join(this.folder, name), 'r')
    try {
      yield* linesIn(file)
    } finally {
      closeSync(file)
    }
  }

  close(): void {
    for (const { file } of this.open.values()) closeSync(file)
    this.open.clear()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function flush(part: { file: number; block: string }): void {
  if (part.block !== '') writeSync(part.file, part.block)
  part.block = ''
}

function* linesIn(file: number): Generator<string> {
  const bytes = new Uint8Array(READ_BYTES)
  const decoder = new TextDecoder()
  let rest = ''
  for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes)) {
    const lines = (rest + decoder.decode(bytes.subarray(0, read), { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

interface Head<Item> {
  item: Item
  list: Iterator<Item>
}

type Order<Item> = (one: Item, other: Item) => number

/** Walks sorted lists as one sorted list. */
export function* merged<Item>(lists: readonly Iterator<Item>[], order: Order<Item>): Generator<Item> {
  // A heap of the next item of each list, the least on top.
  const heap: Head<Item>[] = []
  for (const list of lists) {
    const { value, done } = list.next()
    if (done !== true) rise(heap, { item: value, list }, order)
  }
  for (let [top] = heap; top !== undefined; [top] = heap) {
    yield top.item
    const { value, done } = top.list.next()
    if (done !== true) sink(heap, { item: value, list: top.list }, order)
    else {
      const last = heap.pop()
      if (last !== undefined && heap.length > 0) sink(heap, last, order)
    }
  }
}

function rise<Item>(heap: Head<Item>[], added: Head<Item>, order: Order<Item>): void {
  heap.push(added)
  for (let at = heap.length - 1; at > 0;) {
    const parent = (at - 1) >> 1
    const above = heap[parent]
    if (above === undefined || order(above.item, added.item) <= 0) return
    heap[at] = above
    heap[parent] = added
    at = parent
  }
}

/** Puts an item on top in place of the one there and lets it sink. */
function sink<Item>(heap: Head<Item>[], added: Head<Item>, order: Order<Item>): void {
  heap[0] = added
  for (let at = 0; ;) {
    const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]]
    if (left === undefined) return
    const child = right !== undefined && order(right.item, left.item) < 0 ? 2 * at + 2 : 2 * at + 1
    const below = heap[child]
    if (below === undefined || order(added.item, below.item) <= 0) return
    heap[child] = added
    heap[at] = below
    at = child
  }
}
