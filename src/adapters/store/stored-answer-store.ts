import type { StoredAnswer, StoredAnswerBounds, StoredAnswerStore } from '../../ports/stored-answers.ts'
import { columns, count, flag, key_type, parameter, pick, text_type } from './columns.ts'
import { expression, inserted, matched, selected, sql, statement } from './statements.ts'
import { assertStorable, execute, readOne, type Work, DatabaseStore } from './database.ts'

/** Stored answers of callers who got the brief form, in the SQL that both databases share. */

const token = columns({ token_hash: key_type })
const client = columns({ client: key_type })
const provider = columns({ provider: key_type })
const paid = columns({ paid: flag })
const content = columns({ bytes: count, created_ms: count, sealed: text_type })

const USED = statement(
  'stored_answers_used',
  sql`select ${expression('answers', count, 'count(*)')}, ${expression('bytes', count, 'coalesce(sum(bytes), 0)')}
    from stored_answer where ${matched({ ...client, ...paid })}`,
)

const PROVIDER_USED = statement(
  'provider_answers_used',
  sql`select ${expression('bytes', count, 'coalesce(sum(bytes), 0)')} from stored_answer where ${matched({ ...provider, ...paid })}`,
)

const UNPAID = statement(
  'unpaid_answers_by_provider',
  sql`select ${selected(provider)}, ${expression('bytes', count, 'sum(bytes)')} from stored_answer where paid = 0
    group by provider order by sum(bytes) desc limit ${parameter('limit', count)}`,
)

const TRIM_UNPAID = statement(
  'trim_unpaid_answers',
  sql`delete from stored_answer where token_hash in (
    select token_hash from (
      select token_hash, sum(bytes) over (order by created_ms desc, token_hash rows unbounded preceding) as used from stored_answer
      where ${matched(provider)} and paid = 0) ranked
    where used > ${content.bytes})`,
)

/** Returns a row for a new answer and for one that is there already. */
const KEEP = statement(
  'keep_stored_answer',
  sql`insert into stored_answer ${inserted({ ...token, ...client, ...provider, ...paid, ...content })}
    on conflict (token_hash) do update set created_ms = stored_answer.created_ms returning token_hash`,
)

const FIND = statement(
  'find_stored_answer',
  sql`select ${selected(pick(content, 'sealed', 'created_ms'))} from stored_answer where ${matched(token)}`,
)

const TOTAL = statement('stored_answers_total', sql`select ${expression('bytes', count, 'coalesce(sum(bytes), 0)')} from stored_answer`)

const PURGE = statement(
  'purge_stored_answers',
  sql`delete from stored_answer where token_hash in
      (select token_hash from stored_answer where created_ms < ${parameter('before_ms', count)} limit ${parameter('limit', count)})
    returning token_hash`,
)

export class SqlStoredAnswerStore extends DatabaseStore implements StoredAnswerStore {
  async keep(answer: StoredAnswer, { client_answers, client_bytes, provider_bytes }: StoredAnswerBounds): Promise<boolean> {
    assertStorable(KEEP, answer)
    const work = function* (): Work<boolean> {
      const used = yield* readOne(USED, answer)
      if (used.answers >= client_answers || used.bytes + answer.bytes > client_bytes) return false
      if ((yield* readOne(PROVIDER_USED, answer)).bytes + answer.bytes > provider_bytes) return false
      return yield* execute(KEEP, answer)
    }
    return this.database.atomically(work, { alone_with: answer.client })
  }

  find(token_hash: string): Promise<Pick<StoredAnswer, 'sealed' | 'created_ms'> | null> {
    return this.database.readFirst(FIND, { token_hash })
  }

  async total_bytes(): Promise<number> {
    return (await this.database.readOne(TOTAL, {})).bytes
  }

  unpaid_bytes(limit: number): Promise<{ provider: string; bytes: number }[]> {
    return this.database.readAll(UNPAID, { limit })
  }

  async trim_provider(name: string, bytes: number): Promise<void> {
    await this.database.execute(TRIM_UNPAID, { provider: name, bytes })
  }

  purge(before_ms: number): Promise<number> {
    return this.database.purge(PURGE, { before_ms })
  }
}
