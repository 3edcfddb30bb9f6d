import type { InsuranceStore, PolicyRow, Registered, UnderwriterRow } from '../../ports/insurance.ts'
import { StoreUnavailableError } from './errors.ts'
import { integer, text, textOrNull } from './rows.ts'
import { assertCounts, assertKeys, assertTexts } from './storable.ts'
import type { Database, Row, Statement, Work } from './work.ts'

const ENTRY = 'address, entry_hash, entry, issued_s, valid_until_s'

const FIND: Statement = { name: 'find_underwriter', text: `select ${ENTRY} from underwriter where address = ?1` }

const LIST: Statement = { name: 'list_underwriters', text: `select ${ENTRY} from underwriter where valid_until_s > ?1 order by address` }

const EXPIRE: Statement = {
  name: 'expire_underwriters',
  text: 'delete from underwriter where valid_until_s <= ?1 and address <> ?2 returning address',
}

const COUNT: Statement = { name: 'count_underwriters', text: 'select count(*) as entries from underwriter' }

const WRITE: Statement = {
  name: 'write_underwriter',
  text: `insert into underwriter (${ENTRY}) values (?1, ?2, ?3, ?4, ?5)
    on conflict (address) do update set entry_hash = excluded.entry_hash, entry = excluded.entry,
      issued_s = excluded.issued_s, valid_until_s = excluded.valid_until_s`,
}

const BIND: Statement = {
  name: 'bind_policy',
  text: `insert into policy (policy_id, underwriter, certificate) values (?1, ?2, ?3)
    on conflict (policy_id) do nothing returning policy_id`,
}

const READ_POLICY: Statement = {
  name: 'read_policy',
  text: 'select policy_id, underwriter, certificate, underwriter_signature from policy where policy_id = ?1',
}

const COUNTERSIGN: Statement = {
  name: 'countersign_policy',
  text: 'update policy set underwriter_signature = ?2 where policy_id = ?1 and underwriter_signature is null',
}

/** Registrations follow one another, so that the directory never grows beyond its bound. */
const ALONE = `0x${'6'.repeat(40)}`

/** The directory and its policies in the SQL that both databases share. */
export class SqlInsuranceStore implements InsuranceStore {
  readonly #database: Pick<Database, 'read' | 'write' | 'atomically'>

  constructor(database: Pick<Database, 'read' | 'write' | 'atomically'>) {
    this.#database = database
  }

  async register(row: UnderwriterRow, most: number, now_s: number): Promise<Registered> {
    assertKeys({ address: row.address, entry_hash: row.entry_hash })
    assertTexts({ entry: row.entry })
    assertCounts({ issued_s: row.issued_s, valid_until_s: row.valid_until_s, now_s })
    return this.#database.atomically(() => register(row, most, now_s), { alone_with: ALONE })
  }

  async underwriters(now_s: number): Promise<UnderwriterRow[]> {
    assertCounts({ now_s })
    return (await this.#database.read(LIST, [now_s])).map(entryOf)
  }

  async underwriter(address: string): Promise<UnderwriterRow | null> {
    assertKeys({ address })
    const [row] = await this.#database.read(FIND, [address])
    return row === undefined ? null : entryOf(row)
  }

  async bind({ policy_id, underwriter, certificate }: Omit<PolicyRow, 'underwriter_signature'>) {
    assertKeys({ policy_id, underwriter })
    assertTexts({ certificate })
    const inserted = await this.#database.write(BIND, [policy_id, underwriter, certificate])
    const policy = await this.policy(policy_id)
    if (policy === null) throw new StoreUnavailableError('The store lost a policy that it had kept.')
    return { created: inserted.length === 1, policy }
  }

  async policy(policy_id: string): Promise<PolicyRow | null> {
    assertKeys({ policy_id })
    const [row] = await this.#database.read(READ_POLICY, [policy_id])
    return row === undefined ? null : policyOf(row)
  }

  async countersign(policy_id: string, signature: string): Promise<PolicyRow | null> {
    assertKeys({ policy_id, signature })
    await this.#database.write(COUNTERSIGN, [policy_id, signature])
    return this.policy(policy_id)
  }
}

function* register(row: UnderwriterRow, most: number, now_s: number): Work<Registered> {
  const [found] = yield { statement: FIND, values: [row.address] }
  const before = found === undefined ? null : entryOf(found)
  if (before?.entry_hash === row.entry_hash) return 'unchanged'
  if (before !== null && before.issued_s >= row.issued_s) return 'older'
  if (before === null) {
    const [count] = yield { statement: COUNT, values: [] }
    if (integer(count, 'entries') >= most) {
      const gone = yield { statement: EXPIRE, values: [now_s, row.address] }
      if (gone.length === 0) return 'full'
    }
  }
  yield { statement: WRITE, values: [row.address, row.entry_hash, row.entry, row.issued_s, row.valid_until_s] }
  return 'registered'
}

function entryOf(row: Row): UnderwriterRow {
  return {
    address: text(row, 'address'),
    entry_hash: text(row, 'entry_hash'),
    entry: text(row, 'entry'),
    issued_s: integer(row, 'issued_s'),
    valid_until_s: integer(row, 'valid_until_s'),
  }
}

function policyOf(row: Row): PolicyRow {
  return {
    policy_id: text(row, 'policy_id'),
    underwriter: text(row, 'underwriter'),
    certificate: text(row, 'certificate'),
    underwriter_signature: textOrNull(row, 'underwriter_signature'),
  }
}
