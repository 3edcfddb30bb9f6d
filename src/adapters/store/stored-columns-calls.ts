import { limits } from '../../service/limits.ts'
import { BY_AGE, chain, days, EVER, hashed, keyed, LEDGER, NOTHING, own, sealed, type StoredTable } from './stored-columns-kinds.ts'

export const CALLS = {
  a2a_task: {
    holds: 'a task of the agent protocol',
    kept: days(limits.a2a_task_ms),
    erase: BY_AGE,
    columns: [
      keyed('id of the task, which is needed to read it; client and its networks', 'task_id', 'client', 'network', 'provider'),
      sealed('messages, input and answer', 'body'),
      own('revision', 'working', 'updated_ms', 'paid', 'bytes'),
    ],
  },
  allowance: {
    holds: 'free calls and other daily budgets that a client has used',
    kept: '2 days',
    erase: BY_AGE,
    columns: [
      chain('keyed hash of the client or its network, another each day; for a budget of an account, the account', 'client'),
      own('day', 'bucket', 'used'),
    ],
  },
  call_count: {
    holds: 'number of calls of a tool on a day',
    kept: '400 days',
    erase: BY_AGE,
    columns: [own('day', 'tool', 'outcome', 'calls')],
  },
  stored_answer: {
    holds: 'the whole answer of a call that asked for the brief form',
    kept: days(limits.answer_kept_ms),
    erase: BY_AGE,
    columns: [
      hashed('answer token, which is needed to open it', 'token_hash'),
      keyed('networks of the client', 'client', 'provider'),
      sealed('answer, under a key derived from the token', 'sealed'),
      own('bytes', 'created_ms', 'paid'),
    ],
  },
} as const satisfies Record<string, StoredTable>

export const PAYMENTS = {
  channel: {
    holds: 'a payment channel',
    kept: 'while it has a balance or a charge, then until it is unused for long',
    erase: LEDGER,
    columns: [
      chain(
        'terms, balances and last voucher of the channel',

        'channel_id',
        'payer',
        'payer_authorizer',
        'receiver',
        'receiver_authorizer',
        'token',
        'withdraw_delay_s',
        'salt',
        'balance_minor',

        'claimed_minor',
        'withdraw_minor',
        'withdraw_requested_s',
        'refund_nonce',
        'opened_minor',
        'charged_minor',
        'signature',
        'asset',
      ),
      keyed('network of the last charge', 'last_network_hash'),
      own('last_nonce', 'refund_minor', 'synced_ms', 'created_ms', 'used_ms', 'unclaimed'),
    ],
  },
  payment: {
    holds: 'a payment of a call or of an invoice',
    kept: EVER,
    erase: LEDGER,
    columns: [
      chain(
        'authorization of the payer and its transaction',

        'payer',
        'nonce',
        'recipient',
        'value_minor',
        'valid_after_s',
        'valid_before_s',
        'signature',
        'contract_payer',
        'asset',
        'deposit_call',
        'cumulative_minor',
        'transaction_hash',
        'block_number',
        'block_hash',
        'settled_ms',
        'account_nonce',
        'place',
        'settler',
      ),
      hashed('input of the call; cart of the invoice', 'input_hash'),
      { form: 'own', names: ['subject'], holds: 'id of the tool, the invoice or the channel that is paid for' },
      { form: 'keyed_hash', names: ['network_hash'], holds: 'network of the first request', kept: days(limits.answer_kept_ms) },
      keyed('answer token; payment-identifier id of the caller', 'token_hash', 'identifier_hash'),
      own('number', 'purpose', 'price_class', 'state', 'fence', 'claim_until_ms', 'created_ms', 'updated_ms', 'method', 'final', 'reason'),
    ],
  },
  payment_answer: {
    holds: 'answer of a paid call, so that a lost one can be fetched again',
    kept: days(limits.answer_kept_ms),
    erase: BY_AGE,
    columns: [sealed('answer, with the input that it repeats', 'sealed'), own('payment', 'expires_ms')],
  },
  price_mark: {
    holds: 'a price of the past',
    kept: 'while quotes may use it',
    erase: NOTHING,
    columns: [own('price_class', 'epoch', 'amount_minor')],
  },
  sale: {
    holds: 'a sale that moves the price',
    kept: 'while prices depend on it',
    erase: BY_AGE,
    columns: [chain('account that paid', 'payer'), own('epoch', 'price_class')],
  },
  sending: {
    holds: 'a transaction of the gas wallet',
    kept: EVER,
    erase: LEDGER,
    columns: [
      chain('content of the transaction', 'wallet', 'account_nonce', 'recipient', 'data', 'gas'),
      own('kind', 'state', 'created_ms'),
    ],
  },
  sending_attempt: {
    holds: 'a signed form of that transaction',
    kept: EVER,
    erase: LEDGER,
    columns: [
      chain('the transaction as it was sent', 'wallet', 'account_nonce', 'hash', 'raw', 'max_fee_wei', 'priority_fee_wei'),
      own('number', 'stored_ms'),
    ],
  },
  gas_spent: { holds: 'gas of a wallet on a day', kept: EVER, erase: NOTHING, columns: [chain('gas wallet', 'wallet'), own('day', 'wei')] },
  closed_stretch: {
    holds: 'token transfers of an account in final blocks, as a tool has read them',
    kept: '4 days',
    erase: BY_AGE,
    columns: [chain('account and transfers', 'chain_id', 'token', 'account', 'from_block', 'blocks', 'transfers'), own('kept_ms')],
  },
} as const satisfies Record<string, StoredTable>

export const CREDITS = {
  credit: {
    holds: 'a prepaid credit',
    kept: EVER,
    erase: LEDGER,
    columns: [
      keyed('code of the credit', 'code_hash'),
      own('number', 'unit', 'unit_minor', 'granted', 'reversed', 'spent', 'reserved', 'origin', 'created_ms'),
    ],
  },
  credit_answer: {
    holds: 'answer of a call that a credit paid for',
    kept: days(limits.answer_kept_ms),
    erase: BY_AGE,
    columns: [sealed('answer', 'sealed'), own('credit_use', 'expires_ms')],
  },
  credit_event: {
    holds: 'a notice of the card processor that was handled',
    kept: EVER,
    erase: NOTHING,
    columns: [own('event_id', 'received_ms')],
  },
  credit_purchase: {
    holds: 'a purchase by card',
    kept: EVER,
    erase: 'ask the card processor, which alone knows who paid',
    columns: [
      { form: 'own', names: ['session_id', 'payment_ref'], holds: 'references of the card processor; no name, card or e-mail address' },
      keyed('secret of the buyer; code of the credit', 'claim_hash', 'code_hash'),
      { form: 'sealed', names: ['sealed_code'], holds: 'code of the credit', kept: 'until the buyer has seen it' },
      own('amount_minor', 'paid_ms'),
    ],
  },
  credit_reversal: {
    holds: 'a refund or a dispute of a card payment',
    kept: EVER,
    erase: NOTHING,
    columns: [own('payment_ref', 'reference', 'amount_minor', 'standing', 'updated_ms')],
  },
  credit_use: {
    holds: 'a call that a credit paid for',
    kept: EVER,
    erase: LEDGER,
    columns: [
      keyed('Idempotency-Key of the caller', 'use_hash'),
      hashed('input of the call', 'input_hash'),
      own('number', 'credit', 'tool', 'amount', 'state', 'fence', 'claim_until_ms', 'created_ms', 'updated_ms'),
    ],
  },
} as const satisfies Record<string, StoredTable>
