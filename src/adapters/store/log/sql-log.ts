import type { Statement } from '../work.ts'

/** The statements of the receipts log. Those over lists come in two lengths, so that each is prepared once. */

/** Values that one statement over a list carries. */
export const LIST_VALUES = 64

interface Listed {
  one: Statement
  many: Statement
}

function listed(name: string, text: (count: number) => string): Listed {
  return { one: { name: `${name}_1`, text: text(1) }, many: { name: `${name}_${LIST_VALUES}`, text: text(LIST_VALUES) } }
}

const places = (count: number, first = 1) => Array.from({ length: count }, (_, at) => `?${at + first}`)

/** ?1 is the time, the entries follow. */
export const QUEUE = listed(
  'queue_log_entries',
  (count) =>
    `insert into log_waiting (entry, since_ms) values ${places(count, 2)
      .map((entry) => `(${entry}, ?1)`)
      .join(', ')} on conflict (entry) do nothing`,
)

export const FORGET = listed('forget_log_entries', (count) => `delete from log_waiting where entry in (${places(count).join(', ')})`)

export const POSITIONS = listed(
  'find_log_positions',
  (count) => `select entry, position from log_entry where entry in (${places(count).join(', ')})`,
)

/** Position and entry in turn. */
export const WRITE_ENTRIES = listed('write_log_entries', (count) => {
  const rows = Array.from({ length: count }, (_, at) => `(?${2 * at + 1}, ?${2 * at + 2})`)
  return `insert into log_entry (position, entry) values ${rows.join(', ')}`
})

export const WAITING: Statement = { name: 'log_waiting', text: 'select entry from log_waiting order by number limit ?1' }
export const IS_WAITING: Statement = { name: 'is_log_waiting', text: 'select number from log_waiting where entry = ?1' }
export const WAITING_SINCE: Statement = { name: 'log_waiting_since', text: 'select since_ms from log_waiting order by number limit 1' }
export const HEAD: Statement = { name: 'log_head', text: 'select size, root, checkpoint, signed_ms from log_head' }

/** Returns a row when the log was of the size ?5. */
export const MOVE_HEAD: Statement = {
  name: 'move_log_head',
  text: 'update log_head set size = ?1, root = ?2, checkpoint = ?3, signed_ms = ?4 where one = 1 and size = ?5 returning size',
}

/** Returns a row when there was no head yet. */
export const FIRST_HEAD: Statement = {
  name: 'first_log_head',
  text: `insert into log_head (one, size, root, checkpoint, signed_ms) values (1, ?1, ?2, ?3, ?4)
    on conflict (one) do nothing returning size`,
}

export const WRITE_TILE: Statement = {
  name: 'write_log_tile',
  text: `insert into log_tile (level, tile, hashes) values (?1, ?2, ?3)
    on conflict (level, tile) do update set hashes = excluded.hashes`,
}
export const TILE: Statement = { name: 'log_tile', text: 'select hashes from log_tile where level = ?1 and tile = ?2' }
export const ENTRIES: Statement = {
  name: 'log_entries',
  text: 'select entry from log_entry where position >= ?1 and position < ?2 order by position',
}

export const COSIGN: Statement = {
  name: 'cosign_log',
  text: `insert into log_cosignature (size, witness, line) values (?1, ?2, ?3)
    on conflict (size, witness) do update set line = excluded.line`,
}
/** Those of older checkpoints have served. */
export const DROP_COSIGNATURES: Statement = { name: 'drop_log_cosignatures', text: 'delete from log_cosignature where size < ?1' }
export const COSIGNATURES: Statement = {
  name: 'log_cosignatures',
  text: 'select line from log_cosignature where size = ?1 order by witness',
}

export const WITNESSED: Statement = { name: 'log_witnessed', text: 'select origin, size, root from log_witnessed where origin = ?1' }
export const FIRST_WITNESSED: Statement = {
  name: 'first_log_witnessed',
  text: 'insert into log_witnessed (origin, size, root) values (?1, ?2, ?3) on conflict (origin) do nothing returning origin',
}
export const MOVE_WITNESSED: Statement = {
  name: 'move_log_witnessed',
  text: 'update log_witnessed set size = ?2, root = ?3 where origin = ?1 and size = ?4 and root = ?5 returning origin',
}
