import { flag, nullable, text_type } from './columns.ts'
import { expression, sql, statement } from './statements.ts'

/**
 * Receivers of the write-ahead log of a PostgreSQL server. Without the rights of pg_read_all_stats the view shows every row, but neither
 * state nor sync_state. Base backups and archive receivers do not count as standbys; logical subscribers are recognised by their slots, which
 * every user may read.
 */
export const READ_WALSENDERS = statement(
  'walsenders',
  sql`select ${expression('state', nullable(text_type), 'r.state')}, ${expression('sync_state', nullable(text_type), 'r.sync_state')},
      ${expression('is_logical', flag, `case when s.slot_type = 'logical' then 1 else 0 end`)}
    from pg_stat_replication r left join pg_replication_slots s on s.active_pid = r.pid
    where coalesce(r.application_name, '') not in ('pg_basebackup', 'pg_receivewal')`,
)
