import { drop, set, type Change, type RuleCase } from './harness.ts'

/** Changes of answers of facilitators and directories, and of terms by which money is held. */

const changed = (severity: RuleCase['severity'], code: string, from: string, change: Change, at: string): RuleCase => ({
  code: `X402-${code}`,
  severity,
  from,
  change,
  at,
})
const wrong = (code: string, from: string, at: string, value: unknown, severity: RuleCase['severity'] = 'error') =>
  changed(severity, code, from, set(at, value), at)
const gone = (code: string, from: string, at: string, severity: RuleCase['severity'] = 'error') =>
  changed(severity, code, from, drop(at), at)

const CHANNEL = '/payload/channelConfig'
const STRANGER = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
const BATCH = '/accepts/0/extra'
const CAPTURE = '/accepts/1/extra'

export const X402_MORE_CASES: readonly RuleCase[] = [
  wrong('005', 'challenge_v2', '/accepts/0/scheme', 'Exact'),
  wrong('006', 'challenge_v2', '/accepts/0/network', 'eip155:base'),
  wrong('006', 'challenge_v2', '/accepts/0/network', 'eip155:08453'),
  wrong('016', 'challenge_v2', '/accepts/2/extra/facilitatorAddress', '0x857b06519e91e3A54538791bDbb0E22373e36b66'),
  // What a directory answers to a settlement has a form of its own.
  changed('warning', '030', 'settlement', set('/extensions', { bazaar: { status: 'processing' } }), '/extensions/bazaar/info'),
  wrong('039', 'voucher', '/extra', 'charged'),
  wrong('040', 'verify_response', '/extra', []),
  wrong('039', 'settlement', '/payer', 7),
  wrong('039', 'settlement', '/payer', 'alice'),
  wrong('039', 'settlement', '/payer', '0x857b06519e91e3A54538791bDbb0E22373e36b66'),
  wrong('039', 'settlement', '/amount', 700),
  wrong('039', 'settlement', '/amount', '0.01'),
  wrong('039', 'settlement', '/errorReason', 7),
  wrong('039', 'failed_settlement', '/errorMessage', 7),
  wrong('039', 'settlement', '/network', 'eip155:base'),
  wrong('039', 'settlement', '/transaction', '0x12', 'warning'),
  wrong('039', 'settlement', '/network', 'arbitrum', 'warning'),
  wrong('040', 'verify_response', '/payer', 7),
  wrong('040', 'verify_response', '/invalidMessage', {}),
  gone('034', 'voucher_payment', CHANNEL),
  gone('034', 'voucher_payment', '/payload/voucher'),
  wrong('034', 'voucher_payment', '/payload/type', 'cheque'),
  wrong('034', 'voucher_payment', `${CHANNEL}/salt`, '0x00'),
  wrong('034', 'voucher_payment', '/payload/voucher/maxClaimableAmount', 5_000),
  wrong('034', 'voucher_payment', '/payload/voucher/signature', '0x'),
  wrong('035', 'voucher_payment', `${CHANNEL}/token`, STRANGER),
  wrong('035', 'voucher_payment', `${CHANNEL}/receiverAuthorizer`, STRANGER),
  wrong('035', 'voucher_payment', `${CHANNEL}/withdrawDelay`, 901),
  { ...wrong('035', 'voucher_payment', `${CHANNEL}/receiver`, STRANGER), also: ['X402-042'] },
  { ...wrong('042', 'voucher_payment', `${CHANNEL}/receiver`, STRANGER), also: ['X402-035'] },
  gone('044', 'supported', '/kinds/0/x402Version'),
  wrong('044', 'supported', '/kinds/0/x402Version', '2'),
  gone('044', 'supported', '/kinds/0/scheme'),
  wrong('044', 'supported', '/kinds/0/network', 'base mainnet'),
  wrong('044', 'supported', '/kinds/0/network', 'base'),
  wrong('044', 'supported', '/kinds/0/extra', []),
  wrong('044', 'supported', '/kinds/0', 'exact'),
  wrong('044', 'supported', '/extensions', {}),
  wrong('044', 'supported', '/signers/eip155:*', 'all'),
  gone('044', 'supported', '/extensions', 'warning'),
  gone('044', 'supported', '/signers', 'warning'),
  gone('045', 'list', '/items/0/resource'),
  gone('045', 'list', '/items/0/type'),
  wrong('045', 'list', '/items/0/lastUpdated', {}),
  wrong('045', 'list', '/x402Version', 3),
  gone('046', 'held', `${BATCH}/receiverAuthorizer`),
  wrong('046', 'held', `${BATCH}/receiverAuthorizer`, '0x0000000000000000000000000000000000000000'),
  wrong('046', 'held', `${BATCH}/withdrawDelay`, 60),
  gone('046', 'held', `${BATCH}/name`),
  gone('046', 'held', `${CAPTURE}/captureAuthorizer`),
  wrong('046', 'held', `${CAPTURE}/captureDeadline`, '1795300000'),
  wrong('046', 'held', `${CAPTURE}/refundDeadline`, 1_795_200_000),
  wrong('046', 'held', `${CAPTURE}/minFeeBps`, 101),
  wrong('046', 'held', `${CAPTURE}/feeRecipient`, 'me'),
  wrong('046', 'held', `${CAPTURE}/captureDeadline`, 1_795_000_000, 'warning'),
]
