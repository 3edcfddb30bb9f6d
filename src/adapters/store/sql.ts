import type { Statement } from './work.ts'

/**
 * Every statement of the store, once, in the SQL that SQLite and PostgreSQL share. Placeholders are `?1`, `?2` …, which SQLite binds by
 * position; the PostgreSQL driver writes them as `$1`, `$2`. Only taking a unit differs, because PostgreSQL takes a whole batch in one
 * statement (each statement is a round trip there) and SQLite takes one unit a statement, many statements a transaction.
 */

const KEY = 'day = ?1 and bucket = ?2 and client = ?3'

/** Returns no row once the limit is reached. The first unit is granted unasked, so the limit must not be zero. */
export const TAKE_ONE: Statement = {
  name: 'take_one',
  text: `insert into allowance (day, bucket, client, used) values (?1, ?2, ?3, 1)
    on conflict (day, bucket, client) do update set used = used + 1 where used < ?4
    returning used`,
}

/**
 * Takes `units` for many keys, each key at most once, and returns how many of them were granted. `excluded` holds nothing but columns of
 * the table, so the limit travels in `allowed`; and the count before the update is not visible to `returning` before PostgreSQL 18, so
 * the grant travels in `granted`. When units > allowed, excluded.used is allowed, and the result is the same since used ≥ 0.
 * Rows are locked in key order, so that two instances never wait for each other in a circle.
 */
export const TAKE_MANY: Statement = {
  name: 'take_many',
  text: `insert into allowance (day, bucket, client, used, allowed, granted)
    select day, bucket, client, least(units, allowed), allowed, least(units, allowed)
    from unnest(?1::integer[], ?2::text[], ?3::text[], ?4::integer[], ?5::integer[]) as asked (day, bucket, client, units, allowed)
    order by day, bucket collate "C", client collate "C"
    on conflict (day, bucket, client) do update set
      used = greatest(allowance.used, least(allowance.used + excluded.used, excluded.allowed)),
      granted = greatest(allowance.used, least(allowance.used + excluded.used, excluded.allowed)) - allowance.used,
      allowed = excluded.allowed
    returning day, bucket, client, used, granted`,
}

export const READ_USED: Statement = { name: 'read_used', text: `select used from allowance where ${KEY}` }

export const GIVE_BACK: Statement = { name: 'give_back', text: `update allowance set used = used - 1 where ${KEY} and used > 0` }

/** At most ?2 rows at a time, so that a large purge never holds the lock for long. */
export const PURGE: Statement = {
  name: 'purge',
  text: `delete from allowance where (day, bucket, client) in (select day, bucket, client from allowance where day < ?1 limit ?2)
    returning day`,
}

export const WRITE_IDENTITY: Statement = {
  name: 'write_identity',
  text: 'insert into identity (one, mode, chain_id, pay_to) values (1, ?1, ?2, ?3) on conflict (one) do nothing',
}

export const READ_IDENTITY: Statement = { name: 'read_identity', text: 'select mode, chain_id, pay_to from identity' }

export const WRITE_NOTE: Statement = {
  name: 'write_note',
  text: 'insert into note (name, note) values (?1, ?2) on conflict (name) do nothing',
}

export const READ_NOTE: Statement = { name: 'read_note', text: 'select note from note where name = ?1' }

/** ?3 is now, ?4 the new end. Returns a row when the lease is ours; the fence counts up when another had it before. */
/**
 * A lease that ends later than twice the one that is asked for, and a minute more, was written by a machine whose clock was ahead: it counts
 * as run out, or it would bind until the clocks of others caught up.
 */
export const TAKE_LEASE: Statement = {
  name: 'take_lease',
  text: `insert into lease (name, holder, until_ms, fence) values (?1, ?2, ?4, 1)
    on conflict (name) do update set holder = excluded.holder, until_ms = excluded.until_ms,
      fence = case when lease.holder = excluded.holder then lease.fence else lease.fence + 1 end
    where lease.holder = excluded.holder or lease.until_ms <= ?3 or (?4 > ?3 and lease.until_ms > ?3 + 2 * (?4 - ?3) + 60000)
    returning fence`,
}

/** Returns a row while the lease has this number and, at ?3, has not run out. The row stays locked: it cannot change hands meanwhile. */
export const HOLD_LEASE: Statement = {
  name: 'hold_lease',
  text: 'select name from lease where name = ?1 and fence = ?2 and until_ms > ?3',
  row_lock: 'for update',
}

export const PING: Statement = { name: 'ping', text: 'select number from migration limit 1' }
