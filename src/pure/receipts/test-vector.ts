/** A receipt that anybody can make again: published with the specification, and the example of receipt-verify. */
export const TEST_VECTOR = {
  notice: 'Made with the private key 1, so that anybody can repeat it; it is the receipt of no call.',
  receipt: {
    v: 'XDR-1',
    tool: 'iban-check',
    tool_version: '1.0.0',
    input_hash: '0xab7d4ba329e033c4e5d6255c2d728a3ac138727087128fd58edb6c78e177e512',
    output_hash: '0xd4cd4cf3f762fb5b81b557c9042692be4465ea3ddf84d93c1402b6a12f4ac413',
    payer: `0x${'11'.repeat(20)}`,
    recipient: `0x${'22'.repeat(20)}`,
    amount: '5000',
    nonce: `0x${'33'.repeat(32)}`,
    ts: 1_790_000_000,
    tier: 'paid',
    signer: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    signature:
      '0xf6230ca7fd1f7020073d785cc2397e7ac1b9aec3610fc20081b0bf3f7b09edd27a57dde70efa8c3cf8d572165c62c8c3ac04d550e7db947024dd840faba65ab61b',
  },
  digest: '0x198802f02d72ad4ba1e4432d3c94178090781739c3d0cdeece5dfef24120a46e',
  link_to: `0x${'44'.repeat(32)}`,
  link_digest: '0x8e0544a37535f1ba7dab476e3185b1450a9393d0511d7d103efd2d9cc2124ffd',
} as const
