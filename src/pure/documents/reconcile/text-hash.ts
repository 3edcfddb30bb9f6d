/** Where a hash begins that goes on from no other (FNV-1a). */
export const SEED = 0x811c9dc5

/** A text as 32 bits, going on from a seed: to see that two texts differ, not to keep a stranger from making two that do not. */
export function hash(text: string, seed: number): number {
  let value = seed
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value ^ (value >>> 15)
}
