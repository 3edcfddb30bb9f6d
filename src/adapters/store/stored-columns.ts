import { INVOICE_RULES, WEBHOOK_RULES } from '../../service/limits.ts'
import { CALLS, CREDITS, PAYMENTS } from './stored-columns-calls.ts'
import {
  BY_AGE,
  chain,
  days,
  ERASE,
  EVER,
  hashed,
  keyed,
  LEDGER,
  NOTHING,
  own,
  RETENTION,
  sealed,
  type StoredTable,
} from './stored-columns-kinds.ts'

const INVOICES = {
  invoice: {
    holds: 'an invoice',
    kept: `${EVER}, its personal details ${RETENTION}; unsigned ones without a payment are evicted`,
    erase: ERASE,
    columns: [
      {
        form: 'sealed',
        names: ['terms', 'bank_payment'],
        holds: 'client name, memo, order number, return URL, bank details; evidence of a bank transfer: IBAN, reference, statement',
        kept: RETENTION,
      },
      {
        form: 'keyed_hash',
        names: ['bank_reference', 'content_hash', 'network', 'creator', 'client'],
        holds: 'creditor reference, by which statements find the invoice; content of the request; network that created it',
        kept: RETENTION,
      },
      keyed('Idempotency-Key of the caller', 'request_key'),
      hashed('entry of the bank that paid it', 'bank_entry'),
      {
        form: 'own',
        names: ['invoice_id'],
        holds:
          'id, which is needed to read the invoice; not sealed, because deposits are swept, events sent and merchants listed by it while no caller presents ' +
          'it. A reader of a copy of the store who also reaches the service can read invoices that are not erased, as anyone with their links can',
      },
      chain(
        'account that is paid, amount, deposit address; the watch of the chain searches by them',
        'merchant',
        'amount_minor',
        'deposit_address',
      ),
      chain('signatures of the merchant', 'issue_signature', 'void_signature'),
      own(
        'number',
        'created_ms',
        'expires_s',
        'watch_until_s',
        'voided_ms',
        'closed',
        'marks',
        'updated_ms',
        'held',
        'expiry_noted',
        'bank_paid_ms',
        'sealed',
        'erased_ms',
      ),
    ],
  },
  invoice_bank_report: {
    holds: 'an entry of a bank statement of the operator that names an invoice',
    kept: EVER,
    erase: ERASE,
    columns: [
      { form: 'sealed', names: ['sealed_names'], holds: 'names that the bank gave statement and entry', kept: RETENTION },
      keyed('the same names, so that an entry counts once', 'statement_id', 'entry_reference'),
      {
        form: 'own',
        names: ['booked_on', 'direction', 'returned', 'currency', 'amount_minor', 'charges_minor', 'instructed_minor', 'verdict'],
        holds: 'date, currency (ISO 4217) and amounts of the entry, which the verdict is computed from; they name no person',
      },
      own('invoice_id', 'reported_ms'),
    ],
  },
  invoice_forward: {
    holds: 'a transfer from a deposit address to the merchant',
    kept: EVER,
    erase: LEDGER,
    columns: [chain('the transfer', 'transaction_hash', 'log_index', 'amount_minor', 'block_number', 'block_time_s'), own('invoice_id')],
  },
  invoice_nonce: {
    holds: 'nonces by which payers name an invoice',
    kept: EVER,
    erase: LEDGER,
    columns: [chain('nonce of an authorization', 'nonce'), own('invoice_id')],
  },
  invoice_other_asset: {
    holds: 'a transfer in another token for an invoice',
    kept: EVER,
    erase: LEDGER,
    columns: [
      chain('the transfer', 'transaction_hash', 'log_index', 'asset', 'payer', 'amount', 'block_number', 'block_time_s'),
      own('invoice_id', 'named_by'),
    ],
  },
  invoice_payment: {
    holds: 'a payment of an invoice',
    kept: EVER,
    erase: LEDGER,
    columns: [
      chain(
        'the transfer',
        'transaction_hash',
        'log_index',
        'merchant',
        'payer',
        'amount_minor',
        'block_number',
        'block_hash',
        'block_time_s',
        'nonce',
      ),
      own('invoice_id', 'matched_by', 'confirmed', 'final'),
    ],
  },
  invoice_sweep: {
    holds: 'deposits that wait to be forwarded',
    kept: EVER,
    erase: LEDGER,
    columns: [
      chain('account that is paid, amount', 'merchant', 'waiting_minor'),
      own('invoice_id', 'sweeps', 'sweep_after_ms', 'put_off_ms'),
    ],
  },
  merchant_watch: {
    holds: 'how far the transfers to a merchant were read',
    kept: 'while the merchant has an invoice',
    erase: LEDGER,
    columns: [chain('account', 'merchant'), own('next_block', 'looked_ms', 'until_s', 'due_ms', 'wait_ms', 'rank_ms', 'proven')],
  },
  purged_invoice: {
    holds: 'an invoice that expired unpaid and was deleted, so that its deposit address can be forwarded',
    kept: `${INVOICE_RULES.purged_kept_days / 365} years`,
    erase: NOTHING,
    columns: [chain('account that is paid', 'merchant'), own('invoice_id', 'expires_s', 'purged_ms')],
  },
} as const satisfies Record<string, StoredTable>

const WEBHOOKS = {
  webhook_delivery: {
    holds: 'an event for a receiver',
    kept: `delivered ${days(WEBHOOK_RULES.delivered_kept_ms)}, given up ${days(WEBHOOK_RULES.dead_kept_ms)} from its creation`,
    erase: `${ERASE}; DELETE of the subscription`,
    columns: [
      sealed('the event as it is sent, with order number and bank transfer of the invoice', 'body'),
      own(
        'number',
        'subscription_id',
        'event_id',
        'type',
        'created_ms',
        'state',
        'attempts',
        'since_ms',
        'due_ms',
        'status',
        'fault',
        'attempted_ms',
        'sealed',
        'invoice_id',
      ),
    ],
  },
  webhook_subscription: {
    holds: 'a receiver of events',
    kept: `until it is deleted or its invoice or receiver ends; unverified ones ${days(WEBHOOK_RULES.challenge.kept_ms)} after their expiry`,
    erase: `DELETE of the subscription; ${ERASE} for that of an invoice`,
    columns: [
      sealed('address of the receiver, and the secret that signs its events', 'url', 'secret'),
      keyed('networks that subscribed', 'network', 'provider'),
      { form: 'own', names: ['owner'], holds: 'account or invoice whose events it gets' },
      own(
        'subscription_id',
        'events',
        'created_ms',
        'failures',
        'paused_until_ms',
        'dropped',
        'next_ms',
        'state',
        'issued_s',
        'rotation',
        'challenges',
        'challenged_ms',
        'challenge_due_ms',
        'challenge_until_ms',
        'challenge_fault',
        'paid',
        'failing_since_ms',
        'sealed',
      ),
    ],
  },
} as const satisfies Record<string, StoredTable>

const RECORDS = {
  assured_record: {
    holds: 'terms that a receipt was bound to',
    kept: EVER,
    erase: 'kept: both parties rely on it; it has amounts and words of fixed lists only',
    columns: [
      hashed('receipt; identity of the record', 'receipt_hash', 'assured_id'),
      { form: 'own', names: ['terms'], holds: 'amounts, rail and tier, from fixed lists' },
      chain('account that signed, and its signature', 'signed_by', 'terms_signature'),
      own('window_ends_s', 'created_ms', 'mark'),
    ],
  },
  dispute: {
    holds: 'a dispute about a receipt, with its verdict',
    kept: EVER,
    erase: 'kept: both parties rely on it',
    columns: [
      hashed('receipt; content of the dispute', 'receipt_hash', 'body_hash'),
      {
        form: 'clear',
        names: ['dispute_id'],
        holds:
          'reference that the payer chose; in clear, because the payer signs it and it names the verdict to both parties. Do not put a name into it',
      },
      own('payer_signed', 'outcome', 'filed_ms'),
    ],
  },
  policy: {
    holds: 'a policy that an underwriter bound',
    kept: EVER,
    erase: 'kept: underwriter and insured rely on it',
    columns: [
      {
        form: 'published',
        names: ['certificate'],
        holds: 'the certificate as the underwriter signed it; published under the id of the policy, so that anyone can verify it',
      },
      chain('account and signatures of the underwriter', 'underwriter', 'underwriter_signature', 'underwriter_attestation'),
      own('policy_id'),
    ],
  },
  underwriter: {
    holds: 'an entry of the directory of underwriters',
    kept: 'until its validity ends or it is removed, then until another entry takes its place',
    erase: '`assay insurers remove`, or DELETE by the underwriter',
    columns: [
      {
        form: 'published',
        names: ['entry', 'domain', 'proof_source'],
        holds: 'name, addresses and terms that the underwriter signed, to be published in the directory',
      },
      chain('account of the underwriter', 'address'),
      hashed('the entry', 'entry_hash'),
      keyed('networks that registered it', 'network', 'provider'),
      own('issued_s', 'valid_until_s', 'proven_s', 'listed_until_s'),
    ],
  },
} as const satisfies Record<string, StoredTable>

const SERVICE = {
  log_cosignature: {
    holds: 'signature of a witness',
    kept: 'until a later one',
    erase: NOTHING,
    columns: [own('size', 'witness', 'line')],
  },
  log_entry: { holds: 'an entry of the public log', kept: EVER, erase: NOTHING, columns: [hashed('receipt', 'entry'), own('position')] },
  log_head: {
    holds: 'checkpoint of the public log',
    kept: EVER,
    erase: NOTHING,
    columns: [own('one', 'size', 'root', 'checkpoint', 'signed_ms')],
  },
  log_tile: { holds: 'hashes of the public log', kept: EVER, erase: NOTHING, columns: [hashed('entries', 'hashes'), own('level', 'tile')] },
  log_waiting: {
    holds: 'an entry that the log will append',
    kept: 'some seconds',
    erase: BY_AGE,
    columns: [hashed('receipt', 'entry'), own('number', 'since_ms')],
  },
  log_witnessed: {
    holds: 'last checkpoint of another log that this service has witnessed',
    kept: EVER,
    erase: NOTHING,
    columns: [{ form: 'published', names: ['origin'], holds: 'name of that log, which is public' }, own('size', 'root')],
  },
  dataset_active: {
    holds: 'reference data in use',
    kept: EVER,
    erase: NOTHING,
    columns: [own('dataset', 'sha256', 'pinned', 'activated_ms')],
  },
  dataset_feed: { holds: 'state of a feed', kept: EVER, erase: NOTHING, columns: [own('feed', 'etag', 'outcome', 'detail', 'read_ms')] },
  dataset_snapshot: {
    holds: 'reference data of public registers and of the operator',
    kept: EVER,
    erase: 'kept: receipts are replayed with it',
    columns: [
      { form: 'published', names: ['packed'], holds: 'rows of the register, which is public' },
      own('sha256', 'dataset', 'published_at', 'row_count', 'added_ms'),
    ],
  },
  identity: {
    holds: 'deployment that the store belongs to',
    kept: EVER,
    erase: NOTHING,
    columns: [own('one', 'mode', 'chain_id', 'pay_to')],
  },
  lease: {
    holds: 'instance that does a job',
    kept: 'seconds to hours',
    erase: NOTHING,
    columns: [own('name', 'holder', 'until_ms', 'fence')],
  },
  migration: { holds: 'a change of the schema', kept: EVER, erase: NOTHING, columns: [own('number', 'name')] },
  note: {
    holds: 'a fact about the deployment, such as a fingerprint of its secret',
    kept: EVER,
    erase: NOTHING,
    columns: [own('name', 'note')],
  },
} as const satisfies Record<string, StoredTable>

/**
 * Everything that the store holds: each column of each table once, in the form in which it is stored, with how long it is kept and how it is erased.
 * docs/operating/privacy.md is made from it (scripts/privacy-page.ts). A column of a migration without an entry fails a test.
 */
export const STORED_TABLES: Readonly<Record<string, StoredTable>> = {
  ...INVOICES,
  ...WEBHOOKS,
  ...CALLS,
  ...PAYMENTS,
  ...CREDITS,
  ...RECORDS,
  ...SERVICE,
}
