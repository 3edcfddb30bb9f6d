import type { SqlDialect, Migration } from './database.ts'

export const FIRST_MIGRATIONS: readonly Migration[] = [
  /** Allowance counts, leases, notes, and what the store belongs to. */
  {
    number: 1,
    name: 'first-tables',
    text: (dialect) => `
    create table allowance (
      day integer not null,
      bucket text not null,
      client text not null,
      used integer not null check (used >= 0)${dialect.counted_columns},
      primary key (day, bucket, client)
    )${dialect.clustered_table};
    create table lease (
      name text primary key,
      holder text not null,
      until_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create table note (
      name text primary key,
      note text not null
    )${dialect.table};
    create table identity (
      one integer primary key check (one = 1),
      mode text not null,
      chain_id ${dialect.wide_integer} not null,
      pay_to text not null
    )${dialect.table};
  `,
  },
  /**
   * Payments, their answers and sendings, sales and prices; a fencing number for leases. Addresses, hashes and authorizations are text.
   * Indexes over states cover only the rows that are asked for by that state, so that they stay small however many payments there were.
   */
  {
    number: 2,
    name: 'payments',
    text: (dialect) => paymentTables(dialect) + sendingTables(dialect) + priceTables(dialect),
  },
  /** Transfers of an account within blocks that are final: read once, then known. */
  {
    number: 3,
    name: 'closed-stretches',
    text: (dialect) => `
    create table closed_stretch (
      chain_id ${dialect.wide_integer} not null,
      token text not null,
      account text not null,
      from_block ${dialect.wide_integer} not null,
      blocks integer not null check (blocks > 0),
      transfers text not null,
      kept_ms ${dialect.wide_integer} not null,
      primary key (chain_id, token, account, from_block)
    )${dialect.clustered_table};
    create index closed_stretch_by_age on closed_stretch (kept_ms);
  `,
  },
  /** Receipts bound to terms of the assured lane: one row a receipt, never removed. */
  {
    number: 4,
    name: 'assured-records',
    text: (dialect) => `
    create table assured_record (
      receipt_hash text not null primary key,
      assured_id text not null,
      terms text not null,
      window_ends_s ${dialect.wide_integer} not null,
      created_ms ${dialect.wide_integer} not null,
      mark text not null check (mark in ('OPEN', 'DISPUTED', 'ADJUDICATED'))
    )${dialect.clustered_table};
  `,
  },
  /** Disputes about receipts, each under the name that its claimant gave it; never removed. */
  {
    number: 5,
    name: 'disputes',
    text: (dialect) => `
    create table dispute (
      receipt_hash text not null,
      dispute_id text not null,
      body_hash text not null,
      payer_signed integer not null check (payer_signed in (0, 1)),
      outcome text not null,
      filed_ms ${dialect.wide_integer} not null,
      primary key (receipt_hash, dispute_id)
    )${dialect.clustered_table};
  `,
  },
  /** The directory of underwriters, and the certificates that were made out on their entries. */
  {
    number: 6,
    name: 'insurance',
    text: (dialect) => `
    create table underwriter (
      address text not null primary key,
      entry_hash text not null,
      entry text not null,
      issued_s ${dialect.wide_integer} not null,
      valid_until_s ${dialect.wide_integer} not null
    )${dialect.clustered_table};
    create table policy (
      policy_id text not null primary key,
      underwriter text not null,
      certificate text not null,
      underwriter_signature text
    )${dialect.clustered_table};
  `,
  },
  /** Invoices, what payers sign to name them, the transfers attributed to them, and how far each merchant was looked at. */
  {
    number: 7,
    name: 'invoices',
    text: (dialect) => `
    create table invoice (
      number ${dialect.row_number},
      invoice_id text not null,
      merchant text not null,
      amount_minor ${dialect.wide_integer} not null check (amount_minor > 0),
      terms text not null,
      created_ms ${dialect.wide_integer} not null,
      expires_s ${dialect.wide_integer} not null,
      watch_until_s ${dialect.wide_integer} not null,
      content_hash text not null,
      request_key text,
      client text,
      issue_signature text,
      void_signature text,
      voided_ms ${dialect.wide_integer},
      closed integer not null default 0,
      marks text not null default '',
      updated_ms ${dialect.wide_integer} not null,
      unique (invoice_id)
    )${dialect.table};
    create unique index invoice_request on invoice (request_key) where request_key is not null;
    create index invoice_open_merchant on invoice (merchant, expires_s) where closed = 0;
    create index invoice_open_client on invoice (client, expires_s) where closed = 0 and client is not null;
    create index invoice_signed on invoice (merchant, expires_s) where issue_signature is not null;
    create index invoice_watched on invoice (watch_until_s, merchant, created_ms);
    create table invoice_nonce (
      nonce text not null primary key,
      invoice_id text not null
    )${dialect.clustered_table};
    create table invoice_payment (
      transaction_hash text not null,
      log_index integer not null,
      invoice_id text not null,
      merchant text not null,
      payer text not null,
      amount_minor ${dialect.wide_integer} not null,
      block_number ${dialect.wide_integer} not null,
      block_hash text not null,
      block_time_s ${dialect.wide_integer} not null,
      matched_by text not null check (matched_by in ('eip3009', 'x402', 'transfer')),
      nonce text,
      confirmed integer not null,
      final integer not null,
      primary key (transaction_hash, log_index)
    )${dialect.clustered_table};
    create index invoice_payment_of on invoice_payment (invoice_id);
    create index invoice_payment_unfinal on invoice_payment (merchant, block_number) where final = 0;
    create table invoice_watch (
      merchant text not null primary key,
      next_block ${dialect.wide_integer} not null,
      looked_ms ${dialect.wide_integer} not null
    )${dialect.clustered_table};
  `,
  },
  /** Entries of bank statements about invoices, and transfers in other assets than the requested one. Neither ever counts as paid. */
  {
    number: 8,
    name: 'invoice-bank',
    text: (dialect) => `
    create table invoice_bank_report (
      statement_id text not null,
      entry_reference text not null,
      invoice_id text not null,
      booked_on text,
      direction text not null check (direction in ('CRDT', 'DBIT')),
      returned integer not null,
      currency text not null,
      amount_minor ${dialect.wide_integer} not null,
      charges_minor ${dialect.wide_integer} not null,
      instructed_minor ${dialect.wide_integer},
      verdict text not null,
      reported_ms ${dialect.wide_integer} not null,
      primary key (statement_id, entry_reference)
    )${dialect.clustered_table};
    create index invoice_bank_report_of on invoice_bank_report (invoice_id);
    create table invoice_other_asset (
      transaction_hash text not null,
      log_index integer not null,
      invoice_id text not null,
      asset text not null,
      payer text not null,
      amount text not null,
      block_number ${dialect.wide_integer} not null,
      block_time_s ${dialect.wide_integer} not null,
      named_by text not null check (named_by in ('nonce', 'submitted')),
      primary key (transaction_hash, log_index)
    )${dialect.clustered_table};
    create index invoice_other_asset_of on invoice_other_asset (invoice_id);
  `,
  },
  /** Prepaid credits, the card payments behind them and what took those back, and every use of a credit with its answer. */
  {
    number: 9,
    name: 'credits',
    text: (dialect) => `
    create table credit (
      number ${dialect.row_number},
      code_hash text not null,
      unit text not null check (unit in ('usdc_minor', 'calls')),
      unit_minor ${dialect.wide_integer} not null check (unit_minor > 0),
      granted ${dialect.wide_integer} not null check (granted > 0),
      reversed ${dialect.wide_integer} not null default 0 check (reversed >= 0 and reversed <= granted),
      spent ${dialect.wide_integer} not null default 0 check (spent >= 0),
      reserved ${dialect.wide_integer} not null default 0 check (reserved >= 0 and spent + reserved <= granted),
      origin text not null check (origin in ('card', 'invoice')),
      created_ms ${dialect.wide_integer} not null,
      unique (code_hash)
    )${dialect.table};
    create table credit_purchase (
      session_id text not null primary key,
      payment_ref text not null,
      claim_hash text not null,
      code_hash text not null,
      amount_minor ${dialect.wide_integer} not null,
      sealed_code text,
      paid_ms ${dialect.wide_integer} not null,
      unique (payment_ref)
    )${dialect.clustered_table};
    create index credit_purchase_code on credit_purchase (code_hash);
    create table credit_reversal (
      payment_ref text not null,
      reference text not null,
      amount_minor ${dialect.wide_integer} not null,
      standing text not null check (standing in ('open', 'won', 'lost')),
      updated_ms ${dialect.wide_integer} not null,
      primary key (payment_ref, reference)
    )${dialect.clustered_table};
    create table credit_event (
      event_id text not null primary key,
      received_ms ${dialect.wide_integer} not null
    )${dialect.clustered_table};
    create table credit_use (
      number ${dialect.row_number},
      credit ${dialect.wide_integer} not null,
      use_hash text not null,
      tool text not null,
      input_hash text not null,
      amount ${dialect.wide_integer} not null,
      state text not null check (state in ('claimed', 'settled', 'released')),
      fence ${dialect.wide_integer} not null,
      claim_until_ms ${dialect.wide_integer} not null,
      created_ms ${dialect.wide_integer} not null,
      updated_ms ${dialect.wide_integer} not null,
      unique (credit, use_hash)
    )${dialect.table};
    create index credit_use_claimed on credit_use (claim_until_ms) where state = 'claimed';
    create index credit_use_settled on credit_use (credit, number) where state = 'settled';
    create table credit_answer (
      credit_use ${dialect.wide_integer} primary key,
      sealed text not null,
      expires_ms ${dialect.wide_integer} not null
    )${dialect.table};
    create index credit_answer_expires on credit_answer (expires_ms);
  `,
  },
]

/** Leases learn to count, and payments have a table with what hangs on each. */
function paymentTables(dialect: SqlDialect): string {
  return `
  alter table lease add column fence ${dialect.wide_integer} not null default 1;
  create table payment (
    number ${dialect.row_number},
    payer text not null,
    nonce text not null,
    purpose text not null,
    subject text not null,
    input_hash text not null,
    recipient text not null,
    value_minor ${dialect.wide_integer} not null check (value_minor >= 0),
    valid_after_s ${dialect.wide_integer} not null,
    valid_before_s ${dialect.wide_integer} not null,
    signature text not null,
    contract_payer integer not null,
    price_class text not null,
    token_hash text not null,
    state text not null,
    fence ${dialect.wide_integer} not null,
    claim_until_ms ${dialect.wide_integer} not null,
    created_ms ${dialect.wide_integer} not null,
    updated_ms ${dialect.wide_integer} not null,
    method text,
    settler text,
    account_nonce ${dialect.wide_integer},
    place integer,
    transaction_hash text,
    block_number ${dialect.wide_integer},
    block_hash text,
    settled_ms ${dialect.wide_integer},
    final integer not null default 0,
    reason text,
    unique (payer, nonce)
  )${dialect.table};
  create unique index payment_token on payment (token_hash);
  create index payment_created on payment (created_ms);
  create index payment_state on payment (state, final, updated_ms);
  create index payment_in_flight on payment (payer, value_minor) where state in ('claimed', 'prepared', 'settling', 'unknown');
  create index payment_refused on payment (payer, updated_ms) where state = 'refused';
  create index payment_waiting on payment (settler, updated_ms) where state = 'settling' and account_nonce is null;
  create index payment_carried on payment (settler, account_nonce) where account_nonce is not null;
  create table payment_answer (
    payment ${dialect.wide_integer} primary key,
    sealed text not null,
    expires_ms ${dialect.wide_integer} not null
  )${dialect.table};
  create index payment_answer_expires on payment_answer (expires_ms);
  `
}

/** Transactions of gas wallets, each with the bytes that were ever signed for it. */
function sendingTables(dialect: SqlDialect): string {
  return `
  create table sending (
    wallet text not null,
    account_nonce ${dialect.wide_integer} not null,
    kind text not null,
    recipient text not null,
    data text not null,
    gas ${dialect.wide_integer} not null,
    state text not null,
    created_ms ${dialect.wide_integer} not null,
    primary key (wallet, account_nonce)
  )${dialect.table};
  create index sending_open on sending (wallet, state, account_nonce) where state = 'open';
  create table sending_attempt (
    wallet text not null,
    account_nonce ${dialect.wide_integer} not null,
    number integer not null,
    hash text not null,
    raw text not null,
    max_fee_wei text not null,
    priority_fee_wei text not null,
    stored_ms ${dialect.wide_integer} not null,
    primary key (wallet, account_nonce, number),
    unique (wallet, account_nonce, hash)
  )${dialect.table};
  `
}

/** Sales and prices by epoch, and gas by day. */
function priceTables(dialect: SqlDialect): string {
  return `
  create table sale (
    epoch ${dialect.wide_integer} not null,
    price_class text not null,
    payer text not null,
    primary key (epoch, price_class, payer)
  )${dialect.clustered_table};
  create table price_mark (
    price_class text not null,
    epoch ${dialect.wide_integer} not null,
    amount_minor ${dialect.wide_integer} not null,
    primary key (price_class, epoch)
  )${dialect.clustered_table};
  create table gas_spent (
    wallet text not null,
    day ${dialect.wide_integer} not null,
    wei text not null,
    primary key (wallet, day)
  )${dialect.clustered_table};
  `
}
