import type { Migration } from '../migration.ts'

/** Prepaid credits, the card payments behind them and what took those back, and every use of a credit with its answer. */
export const credits: Migration = {
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
}
