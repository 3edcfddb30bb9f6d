/** Blocks that are read together. */
export interface Stretch {
  from: bigint
  /** Belongs to it. */
  to: bigint
}

/** Stretches begin at multiples of this, so that every history is made of the same ones. */
export const STRETCH_BLOCKS = 10_000

/** The aligned stretches that together cover the range; the last one ends with it. */
export function stretchesOf(from: bigint, to: bigint): Stretch[] {
  const found: Stretch[] = []
  for (let start = alignedDown(from); start <= to; start += BigInt(STRETCH_BLOCKS)) {
    const end = start + BigInt(STRETCH_BLOCKS) - 1n
    found.push({ from: start, to: end < to ? end : to })
  }
  return found
}

export function alignedDown(block: bigint): bigint {
  return block - (block % BigInt(STRETCH_BLOCKS))
}

export function isWhole({ from, to }: Stretch): boolean {
  return to - from === BigInt(STRETCH_BLOCKS) - 1n
}

/** The requests for so many blocks in the worst case: the range begins and ends within a stretch, and one more looks at the head. */
export function requestsFor(blocks: number, log_range: number): number {
  const stretches = Math.ceil(blocks / STRETCH_BLOCKS) + 1
  return stretches * Math.ceil(STRETCH_BLOCKS / Math.min(log_range, STRETCH_BLOCKS)) + 1
}
