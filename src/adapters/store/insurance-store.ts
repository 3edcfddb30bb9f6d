import type { DirectoryBounds, InsuranceStore, PolicyRow, Registered, UnderwriterRow } from '../../ports/insurance.ts'
import { StoreUnavailableError } from './errors.ts'
import { integer, integerOrNull, text, textOrNull } from './rows.ts'
import { assertCounts, assertKeys, assertTexts } from './storable.ts'
import type { Database, Row, Statement, Work } from './work.ts'

const ENTRY = 'address, entry_hash, entry, issued_s, valid_until_s, proven_s, proof_source, domain, network, listed_until_s'

const FIND: Statement = { name: 'find_underwriter', text: `select ${ENTRY} from underwriter where address = ?1` }

const LIST: Statement = {
  name: 'list_underwriters',
  text: `select ${ENTRY} from underwriter where listed_until_s > ?1 order by case when proven_s is null then 1 else 0 end, address`,
}

const EXPIRE: Statement = {
  name: 'expire_underwriters',
  text: 'delete from underwriter where listed_until_s <= ?1 and address <> ?2 returning address',
}

/** The unproven entry that would leave the directory first. */
const DISPLACE: Statement = {
  name: 'displace_underwriter',
  text: `delete from underwriter where address = (
    select address from underwriter where proven_s is null order by listed_until_s, address limit 1) returning address`,
}

const COUNT: Statement = { name: 'count_underwriters', text: 'select count(*) as entries from underwriter' }

const COUNT_UNPROVEN: Statement = {
  name: 'count_unproven_underwriters',
  text: `select network, count(*) as entries from underwriter
    where proven_s is null and listed_until_s > ?1 and address <> ?2 group by network`,
}

const COUNT_DOMAIN: Statement = {
  name: 'count_underwriters_of_domain',
  text: `select count(*) as entries from underwriter
    where proven_s is not null and domain = ?1 and listed_until_s > ?2 and address <> ?3`,
}

const WRITE: Statement = {
  name: 'write_underwriter',
  text: `insert into underwriter (${ENTRY}) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    on conflict (address) do update set entry_hash = excluded.entry_hash, entry = excluded.entry,
      issued_s = excluded.issued_s, valid_until_s = excluded.valid_until_s, proven_s = excluded.proven_s,
      proof_source = excluded.proof_source, domain = excluded.domain, network = excluded.network, listed_until_s = excluded.listed_until_s`,
}

const REMOVE: Statement = {
  name: 'remove_underwriter',
  text: 'update underwriter set listed_until_s = 0 where address = ?1 and listed_until_s > ?2 returning address',
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

  async register(row: UnderwriterRow, networks: readonly string[], bounds: DirectoryBounds, now_s: number): Promise<Registered> {
    const { address, entry_hash, entry, issued_s, valid_until_s, proven_s, proof_source, domain, network, listed_until_s } = row
    assertKeys({ address, entry_hash })
    assertTexts({ entry, proof_source, domain, network })
    assertCounts({ issued_s, valid_until_s, proven_s: proven_s ?? 0, listed_until_s, now_s })
    return this.#database.atomically(() => register(row, networks, bounds, now_s), { alone_with: ALONE })
  }

  async remove(address: string, now_s: number): Promise<boolean> {
    assertKeys({ address })
    assertCounts({ now_s })
    return (await this.#database.write(REMOVE, [address, now_s])).length === 1
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

function* register(row: UnderwriterRow, networks: readonly string[], bounds: DirectoryBounds, now_s: number): Work<Registered> {
  const [found] = yield { statement: FIND, values: [row.address] }
  const before = found === undefined ? null : entryOf(found)
  const same = before?.entry_hash === row.entry_hash
  if (same && before.listed_until_s <= now_s) return 'older'
  if (same && (before.proven_s !== null || row.proven_s === null)) return 'unchanged'
  if (!same && before !== null && before.issued_s >= row.issued_s) return 'older'
  const full = yield* row.proven_s === null ? unprovenBound(row, networks, bounds, now_s) : provenBound(row, bounds, now_s)
  if (full !== null) return full
  if (before === null && !(yield* makeRoom(row, bounds, now_s))) return 'full'
  const { address, entry_hash, entry, issued_s, valid_until_s, proven_s, proof_source, domain, network, listed_until_s } = row
  const values = [address, entry_hash, entry, issued_s, valid_until_s, proven_s, proof_source, domain, network, listed_until_s]
  yield { statement: WRITE, values }
  return same ? 'unchanged' : 'registered'
}

function* unprovenBound(
  { address }: UnderwriterRow,
  networks: readonly string[],
  { unproven, unproven_network }: DirectoryBounds,
  now_s: number,
): Work<'unproven_full' | 'network_full' | null> {
  const groups = yield { statement: COUNT_UNPROVEN, values: [now_s, address] }
  const sum = (rows: Row[]) => rows.reduce((entries, row) => entries + integer(row, 'entries'), 0)
  if (sum(groups.filter((row) => networks.includes(text(row, 'network')))) >= unproven_network) return 'network_full'
  return sum(groups) >= unproven ? 'unproven_full' : null
}

function* provenBound({ address, domain }: UnderwriterRow, bounds: DirectoryBounds, now_s: number): Work<'domain_full' | null> {
  const [count] = yield { statement: COUNT_DOMAIN, values: [domain, now_s, address] }
  return integer(count, 'entries') >= bounds.proven_domain ? 'domain_full' : null
}

/** False when every place is taken by an entry that may not be displaced. */
function* makeRoom({ address, proven_s }: UnderwriterRow, { entries }: DirectoryBounds, now_s: number): Work<boolean> {
  const [count] = yield { statement: COUNT, values: [] }
  if (integer(count, 'entries') < entries) return true
  const gone = yield { statement: EXPIRE, values: [now_s, address] }
  if (gone.length > 0) return true
  return proven_s !== null && (yield { statement: DISPLACE, values: [] }).length > 0
}

function entryOf(row: Row): UnderwriterRow {
  return {
    address: text(row, 'address'),
    entry_hash: text(row, 'entry_hash'),
    entry: text(row, 'entry'),
    issued_s: integer(row, 'issued_s'),
    valid_until_s: integer(row, 'valid_until_s'),
    proven_s: integerOrNull(row, 'proven_s'),
    proof_source: textOrNull(row, 'proof_source'),
    domain: text(row, 'domain'),
    network: text(row, 'network'),
    listed_until_s: integer(row, 'listed_until_s'),
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
