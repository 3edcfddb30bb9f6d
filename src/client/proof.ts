import type { ReceiptVerdict } from '../pure/receipts/verify.ts'

/** One thing that the receipt of an answer must agree with. */
export interface Check {
  name: 'signature' | 'key' | 'tool' | 'input' | 'result' | 'payment' | 'settlement' | 'link'
  ok: boolean
  /** One sentence. */
  words: string
}

export interface Verification {
  ok: boolean
  checks: Check[]
  /** Of the receipt alone. */
  receipt: ReceiptVerdict
}
