/** Ways to pay and their parties, of which the right documents of x402 are made. */

export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
export const PAYER = '0x857b06519E91e3A54538791bDbb0E22373e36b66'
export const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const SOLANA_PAYEE = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4'
const FEE_PAYER = 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd'

export const evm = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '10000',
  asset: BASE_USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
}
export const svm = {
  scheme: 'exact',
  network: SOLANA,
  amount: '10000',
  asset: SOLANA_USDC,
  payTo: SOLANA_PAYEE,
  maxTimeoutSeconds: 60,
  extra: { feePayer: FEE_PAYER },
}
export const upto = { ...evm, scheme: 'upto', extra: { ...evm.extra, facilitatorAddress: PAYER } }
export const resource = { url: 'https://api.example.com/report', description: 'Weather report', mimeType: 'application/json' }
