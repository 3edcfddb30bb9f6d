/**
 * A payment that was signed for one call, with all that it takes to send it again: plain JSON, so that it can be kept and resumed by
 * another process. Whoever has it can do no more than deliver it: the amount, the recipient and the one use are signed.
 */
export interface Payment {
  v: 1
  tool: string
  /** RFC 8785 text of the input; the payment buys the answer to this and nothing else. */
  input_text: string
  /** The receipt that the call was to follow. */
  previous_receipt: string | null
  payer: string
  pay_to: string
  /** 32 bytes, 0x-prefixed. */
  nonce: string
  /** Minor units of USDC, as decimal text. */
  amount_minor: string
  chain_id: number
  /** Address of the token. */
  asset: string
  /** Seconds since 1970; the transfer can not be carried out later. */
  valid_before_s: number
  /** Value of PAYMENT-SIGNATURE. */
  header: string
}
