import type { Countersignature, DirectoryBounds, InsuranceStore, PolicyRow, Registered, UnderwriterRow } from '../../ports/insurance.ts'
import type { WebhookEvent } from '../../ports/webhooks.ts'
import { columns, count, key_type, nullable, parameter, pick, text_type, type TableColumns } from './columns.ts'
import { assigned, expression, inserted, matched, replaced, selected, sql, statement } from './statements.ts'
import { assertStorable, execute, presentRow, readAll, readFirst, readOne, type Work } from './database.ts'
import { SealedStore } from './sealed-text.ts'
import { noteEvent } from './webhook-store.ts'

/** The directory of underwriters and its policies in the SQL that both databases share. */

const underwriter = columns({
  address: key_type,
  entry_hash: key_type,
  entry: text_type,
  issued_s: count,
  valid_until_s: count,
  proven_s: nullable(count),
  proof_source: nullable(text_type),
  domain: text_type,
  network: text_type,
  provider: text_type,
  listed_until_s: count,
})
const { address, domain, network } = underwriter
const policy_key = columns({ policy_id: key_type })
const policy_content = columns({ underwriter: key_type, certificate: text_type })
const countersignature = columns({ underwriter_signature: nullable(text_type), underwriter_attestation: nullable(text_type) })
const now = parameter('now_s', count)

const FIND = statement('find_underwriter', sql`select ${selected(underwriter)} from underwriter where ${matched({ address })}`)

const LIST = statement(
  'list_underwriters',
  sql`select ${selected(underwriter)} from underwriter where listed_until_s > ${now}
    order by case when proven_s is null then 1 else 0 end, address`,
)

const EXPIRE = statement(
  'expire_underwriters',
  sql`delete from underwriter where listed_until_s <= ${now} and address <> ${address} returning address`,
)

/** The unproven entry that would leave the directory first. */
const DISPLACE = statement(
  'displace_underwriter',
  sql`delete from underwriter where address = (
    select address from underwriter where proven_s is null order by listed_until_s, address limit 1) returning address`,
)

const ENTRIES = expression('entries', count, 'count(*)')
const COUNT = statement('count_underwriters', sql`select ${ENTRIES} from underwriter`)

const COUNT_UNPROVEN = statement(
  'count_unproven_underwriters',
  sql`select ${selected({ network })}, ${ENTRIES} from underwriter
    where proven_s is null and listed_until_s > ${now} and address <> ${address} group by network`,
)

const COUNT_DOMAIN = statement(
  'count_underwriters_of_domain',
  sql`select ${ENTRIES} from underwriter
    where proven_s is not null and domain = ${domain} and listed_until_s > ${now} and address <> ${address}`,
)

/** The unproven entry that gives way to another one: of the provider network with the most, and there of the network with the most. */
const GIVES_WAY = statement(
  'underwriter_gives_way',
  sql`select ${selected(pick(underwriter, 'address', 'network'))} from underwriter
    where proven_s is null and listed_until_s > ${now} and address <> ${address}
    order by count(*) over (partition by provider) desc, count(*) over (partition by network) desc, listed_until_s, address limit 1`,
)
const DELETE = statement('delete_underwriter', sql`delete from underwriter where ${matched({ address })} returning address`)

function omit<Group extends TableColumns, Name extends keyof Group>(group: Group, ...names: readonly Name[]): Omit<Group, Name> {
  return Object.fromEntries(Object.entries(group).filter(([name]) => !names.includes(name as Name & string))) as Omit<Group, Name>
}

const WRITE = statement(
  'write_underwriter',
  sql`insert into underwriter ${inserted(underwriter)} on conflict (address) do update set ${replaced(omit(underwriter, 'address'))}`,
)

const REMOVE = statement(
  'remove_underwriter',
  sql`update underwriter set listed_until_s = 0 where ${matched({ address })} and listed_until_s > ${now} returning address`,
)

const BIND = statement(
  'bind_policy',
  sql`insert into policy ${inserted({ ...policy_key, ...policy_content })} on conflict (policy_id) do nothing returning policy_id`,
)

const READ_POLICY = statement(
  'read_policy',
  sql`select ${selected({ ...policy_key, ...policy_content, ...countersignature })} from policy where ${matched(policy_key)}`,
)

const COUNTERSIGN = statement(
  'countersign_policy',
  sql`update policy set ${assigned(countersignature)} where ${matched(policy_key)} and underwriter_signature is null returning policy_id`,
)

/** Registrations follow one another, so that the directory never exceeds its bound. */
const ALONE = `0x${'6'.repeat(40)}`

export class SqlInsuranceStore extends SealedStore implements InsuranceStore {
  async register(entry: UnderwriterRow, networks: readonly string[], bounds: DirectoryBounds, now_s: number): Promise<Registered> {
    assertStorable(WRITE, entry)
    return this.database.atomically(() => register(entry, networks, bounds, now_s), { alone_with: ALONE })
  }

  remove(of: string, now_s: number): Promise<boolean> {
    return this.database.execute(REMOVE, { address: of, now_s })
  }

  underwriters(now_s: number): Promise<UnderwriterRow[]> {
    return this.database.readAll(LIST, { now_s })
  }

  underwriter(of: string): Promise<UnderwriterRow | null> {
    return this.database.readFirst(FIND, { address: of })
  }

  async bind(policy: Omit<PolicyRow, keyof Countersignature>): Promise<{ created: boolean; policy: PolicyRow }> {
    const created = await this.database.execute(BIND, policy)
    return { created, policy: presentRow(await this.policy(policy.policy_id)) }
  }

  policy(policy_id: string): Promise<PolicyRow | null> {
    return this.database.readFirst(READ_POLICY, { policy_id })
  }

  async countersign(policy_id: string, signature: Countersignature, event: WebhookEvent): Promise<PolicyRow | null> {
    const { texts } = this
    await this.database.atomically(function* (): Work<void> {
      if (yield* execute(COUNTERSIGN, { policy_id, ...signature })) yield* noteEvent(texts, event)
    })
    return this.policy(policy_id)
  }
}

function* register(entry: UnderwriterRow, networks: readonly string[], bounds: DirectoryBounds, now_s: number): Work<Registered> {
  const before = yield* readFirst(FIND, entry)
  const same = before?.entry_hash === entry.entry_hash
  if (same && before.listed_until_s <= now_s) return 'older'
  if (same && (before.proven_s !== null || entry.proven_s === null)) return 'unchanged'
  if (!same && before !== undefined && before.issued_s >= entry.issued_s) return 'older'
  const full = yield* entry.proven_s === null ? unprovenBound(entry, networks, bounds, now_s) : provenBound(entry, bounds, now_s)
  if (full !== null) return full
  if (before === undefined && !(yield* makeRoom(entry, bounds, now_s))) return 'full'
  yield* execute(WRITE, entry)
  return same ? 'unchanged' : 'registered'
}

function* unprovenBound(
  entry: UnderwriterRow,
  networks: readonly string[],
  { unproven, unproven_network }: DirectoryBounds,
  now_s: number,
): Work<'unproven_full' | 'network_full' | null> {
  const groups = yield* readAll(COUNT_UNPROVEN, { address: entry.address, now_s })
  const sum = (counted: readonly { entries: number }[]) => counted.reduce((total, { entries }) => total + entries, 0)
  const own = sum(groups.filter((group) => networks.includes(group.network)))
  if (own >= unproven_network) return 'network_full'
  if (sum(groups) < unproven) return null
  const found = yield* readFirst(GIVES_WAY, { address: entry.address, now_s })
  const most = groups.find((group) => group.network === found?.network)?.entries ?? 0
  // A network that has some takes no place of one that has as few, so that two do not take turns.
  if (found === undefined || (own > 0 && own + 1 >= most)) return 'unproven_full'
  yield* execute(DELETE, { address: found.address })
  return null
}

function* provenBound(entry: UnderwriterRow, bounds: DirectoryBounds, now_s: number): Work<'domain_full' | null> {
  const { entries } = yield* readOne(COUNT_DOMAIN, { ...entry, now_s })
  return entries >= bounds.proven_domain ? 'domain_full' : null
}

/** False when every place is taken by an entry that may not be displaced. */
function* makeRoom(entry: UnderwriterRow, bounds: DirectoryBounds, now_s: number): Work<boolean> {
  if ((yield* readOne(COUNT, {})).entries < bounds.entries) return true
  if (yield* execute(EXPIRE, { address: entry.address, now_s })) return true
  return entry.proven_s !== null && (yield* execute(DISPLACE, {}))
}
