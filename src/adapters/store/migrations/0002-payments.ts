import type { Dialect, Migration } from '../migration.ts'

/**
 * Payments, their answers and sendings, sales and prices; a fencing number for leases. Addresses, hashes and authorizations are text.
 * Indexes over states cover only the rows that are asked for by that state, so that they stay small however many payments there were.
 */
export const payments: Migration = {
  number: 2,
  name: 'payments',
  text: (dialect) => paymentTables(dialect) + sendingTables(dialect) + priceTables(dialect),
}

/** Leases learn to count, and payments have a table with what hangs on each. */
function paymentTables(dialect: Dialect): string {
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
function sendingTables(dialect: Dialect): string {
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
function priceTables(dialect: Dialect): string {
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
