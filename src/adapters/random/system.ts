import { randomFillSync } from 'node:crypto'

const NONCE_BYTES = 32
const POOL_NONCES = 256

/** 32 bytes from the system's generator as 0x-prefixed hex; drawn in blocks, since each draw costs a system call. */
export function createNonceSource(): () => string {
  const pool = Buffer.alloc(NONCE_BYTES * POOL_NONCES)
  let next = POOL_NONCES
  return () => {
    if (next === POOL_NONCES) {
      randomFillSync(pool)
      next = 0
    }
    const start = next++ * NONCE_BYTES
    return `0x${pool.toString('hex', start, start + NONCE_BYTES)}`
  }
}
