import type { StoredAnswer, StoredAnswerBounds, StoredAnswerStore } from '../../ports/stored-answers.ts'
import { columns, count, key_type, parameter, pick, text_type } from './columns.ts'
import { expression, inserted, matched, selected, sql, statement } from './statements.ts'
import { assertStorable, execute, readOne, type Work, DatabaseStore } from './database.ts'

/** Stored answers of callers who got the brief form, in the SQL that both databases share. */

const token = columns({ token_hash: key_type })
const client = columns({ client: key_type })
const content = columns({ bytes: count, created_ms: count, sealed: text_type })

const USED = statement(
  'stored_answers_used',
  sql`select ${expression('answers', count, 'count(*)')}, ${expression('bytes', count, 'coalesce(sum(bytes), 0)')}
    from stored_answer where ${matched(client)}`,
)

/** Returns a row for a new answer and for one that is there already. */
const KEEP = statement(
  'keep_stored_answer',
  sql`insert into stored_answer ${inserted({ ...token, ...client, ...content })}
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
  async keep(answer: StoredAnswer, { client_answers, client_bytes }: StoredAnswerBounds): Promise<boolean> {
    assertStorable(KEEP, answer)
    const work = function* (): Work<boolean> {
      const used = yield* readOne(USED, { client: answer.client })
      if (used.answers >= client_answers || used.bytes + answer.bytes > client_bytes) return false
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

  purge(before_ms: number): Promise<number> {
    return this.database.purge(PURGE, { before_ms })
  }
}
