import type {
  Countersignature,
  DirectoryBounds,
  Registered,
  UnderwriterRow,
  InsuranceStore,
  UnderwriterProofs,
} from '../../ports/insurance.ts'
import { canonicalText } from '../../pure/receipts/canonical.ts'
import { type SignRequest, signRequest } from '../../pure/signing/sign-request.ts'
import {
  readEntry,
  entryTypedData,
  type SignedEntry,
  LISTING_NOTICE,
  POL,
  countersignRequest,
  standing,
  storedEntry,
  listedUnderwriter,
  proofDomain,
} from '../../pure/rulebooks/pol1-registry.ts'
import {
  attestationDigest,
  type ContractAttestation,
  countersignDigest,
  isCountersigned,
  type Policy,
  verifyPolicy,
} from '../../pure/rulebooks/pol1.ts'
import type { Sources } from '../catalogue/define.ts'
import type { NetworkHash } from '../clients.ts'
import { chainDown, type ContractSignatures } from '../invoices/contract-signature.ts'
import { limits } from '../limits.ts'
import type { OutsideReads } from '../payments/allowance.ts'
import { createRecentMap, type RecentMap } from '../recent.ts'
import { problem, type Problem, type ProblemError } from '../problems.ts'
import type { Registrar, Signer } from '../../ports/signer.ts'
import { judgeKey, type KeyList } from '../../pure/receipts/keys.ts'
import type { SteadyClock } from '../../ports/clock.ts'

/** Parts that registration, listing and countersigning use. */
export interface InsuranceParts extends Pick<Sources, 'clock' | 'crypto' | 'registrar' | 'insurance'> {
  /** Asks underwriters that are contracts; null where there is no chain to ask. */
  contracts: ContractSignatures | null
  proofs: UnderwriterProofs
  /** Budget of the reads for requests without a payment. */
  reads: OutsideReads
  /** True for an account with an invoice that was paid here. */
  wasPaid(account: string): Promise<boolean>
  networkHash: NetworkHash
  providerHash: NetworkHash
}

/** Outcome of a request for a record. */
export type RecordEnd = { ok: true; created: boolean; body: Record<string, unknown> } | { ok: false; problem: Problem }

const DAY_S = 86_400

const BOUNDS: DirectoryBounds = {
  entries: POL.table.entries_max,
  unproven: POL.table.unproven.entries_max,
  unproven_network: POL.table.unproven.entries_max_per_network,
  proven_domain: POL.table.proof.entries_max_per_domain,
}

/**
 * Takes `{entry, signature}` into the directory: one entry an address, the one signed last. Free; nothing is vetted. Form, dates and a plain
 * signature are checked before anything outside is read; reads of the chain (ERC-1271) and of the proof file draw on the budget of the client.
 */
export async function registerUnderwriter(parts: InsuranceParts, given: unknown, client: string): Promise<RecordEnd> {
  const now_s = Math.floor(parts.clock.now_ms() / 1_000)
  const read = readEntry(given, parts.registrar.origin, now_s, parts.crypto)
  if (read.ok) return keepEntry(parts, read, { client, now_s })
  const wrong = invalid(read.faults.map(({ field, message }) => fault(pointerOf(field), 'entry_fault', message)))
  const { unproved } = read
  if (unproved === undefined) return wrong
  wrong.problem.extra = { sign: entrySignature(unproved.entry, parts.registrar.origin) }
  if (unproved.entry.signature === '') return wrong
  if (parts.contracts === null) return { ok: false, problem: chainDown() }
  const { entry, digest } = unproved
  const question = { wallet: entry.underwriter, digest, signature: entry.signature, client, wrong: wrong.problem, rate_code: RATE_CODE }
  const refusal = await parts.contracts.refusal(question)
  return refusal === null ? keepEntry(parts, unproved, { client, now_s }) : { ok: false, problem: refusal }
}

function entrySignature(entry: SignedEntry, origin: string): SignRequest {
  const signable = { method: 'eth_signTypedData_v4', typed_data: entryTypedData(entry) } as const
  return signRequest({ kind: 'pol-1-entry', origin, signer: entry.underwriter, signable })
}

const RATE_CODE = 'INSURANCE_RATE_LIMITED' as const

async function keepEntry(
  parts: InsuranceParts,
  { entry, entry_hash }: { entry: SignedEntry; entry_hash: string },
  { client, now_s }: { client: string; now_s: number },
): Promise<RecordEnd> {
  const { insurance, proofs } = parts
  const { underwriter: address, issued_at: issued_s, valid_until: valid_until_s } = entry
  const before = await insurance.underwriter(address)
  const settled = isSettled(before, entry_hash, issued_s, now_s)
  // The entry is signed by its address, or accepted by its contract wallet.
  const known = !settled && ((before !== null && before.proven_s !== null) || (await parts.wasPaid(address)))
  const proof = await proofOf(parts, entry, { settled, known, client })
  if (!proof.ok) return proof
  const { networks, provider, listed_until_s } = unprovenTerms(parts, client, valid_until_s, now_s)
  const mark = proof.proven
    ? { proven_s: now_s, proof_source: proofs.source, network: '', provider: '', listed_until_s: valid_until_s }
    : { proven_s: null, proof_source: null, network: networks[0] ?? '', provider, listed_until_s }
  const row = { address, entry_hash, entry: canonicalText(entry), issued_s, valid_until_s, domain: proof.domain, ...mark }
  const registered = await insurance.register(row, networks, BOUNDS, now_s)
  if (registered !== 'registered' && registered !== 'unchanged') return notKept(registered, proof.domain)
  const kept = (await insurance.underwriter(address)) ?? row
  const shown = { status: registered, ...listedUnderwriter(kept, entry), notice: LISTING_NOTICE }
  const told = kept.proven_s === null ? { file: proof.url, reason: proof.reason } : { file: proof.url, reason: null }
  return { ok: true, created: registered === 'registered', body: { ...shown, proof: told, entry } }
}

/**
 * Returns true when the store would change nothing, so that no file has to be read: the same entry, proven or out of the list, or an older
 * one.
 */
function isSettled(before: UnderwriterRow | null, entry_hash: string, issued_s: number, now_s: number): boolean {
  if (before === null) return false
  return before.entry_hash === entry_hash ? before.proven_s !== null || before.listed_until_s <= now_s : before.issued_s >= issued_s
}

type Proof = { ok: true; proven: boolean; domain: string; url: string | null; reason: string } | Extract<RecordEnd, { ok: false }>

/** Reads the file of the domain of the terms, once the budget of the client holds it. */
async function proofOf(
  { proofs, reads }: InsuranceParts,
  entry: SignedEntry,
  { settled, known, client }: { settled: boolean; known: boolean; client: string },
): Promise<Proof> {
  const domain = proofDomain(entry.terms_uri)
  if (!domain.ok) return { ok: true, proven: false, domain: '', url: null, reason: domain.reason }
  const { host, registrable, url } = domain
  if (settled) return { ok: true, proven: false, domain: registrable, url, reason: '' }
  const taken = await reads.take(client, RATE_CODE, known)
  if (!taken.ok) return taken
  const found = await proofs.check(host, entry.underwriter, client)
  const proven = found.kind === 'proven'
  return { ok: true, proven, domain: registrable, url, reason: proven ? '' : found.reason }
}

/** When an unproven entry leaves the directory, and the names of the client's network on the days that entries of it may be from. */
function unprovenTerms({ networkHash, providerHash }: InsuranceParts, client: string, valid_until_s: number, now_s: number) {
  const { listed_days } = POL.table.unproven
  const today = Math.floor(now_s / DAY_S)
  const networks = Array.from({ length: listed_days + 1 }, (_, age) => networkHash(today - age, client))
  return { networks, provider: providerHash(today, client), listed_until_s: Math.min(valid_until_s, now_s + listed_days * DAY_S) }
}

function notKept(registered: Exclude<Registered, 'registered' | 'unchanged'>, domain: string): RecordEnd {
  const { table } = POL
  const prove = `Put the address of the underwriter into ${table.proof.path} of the host of terms_uri and register again.`
  switch (registered) {
    case 'older': {
      const message = 'The directory has, or had, an entry of this address that was issued then or later. Sign one with a later issued_at.'
      return invalid([fault('/entry/issued_at', 'older', message)])
    }
    case 'full':
      return {
        ok: false,
        problem: problem(
          'INSURANCE_DIRECTORY_FULL',
          `The directory holds ${table.entries_max} entries, its maximum. This limit is the service's, not yours; entries leave when they expire.`,
        ),
      }
    case 'unproven_full': {
      const detail =
        `All ${table.unproven.entries_max} places for unproven entries are taken, and your network has as many of them as others. This limit is the ` +
        `service's. ${prove}`
      return { ok: false, problem: problem('INSURANCE_DIRECTORY_FULL', detail) }
    }
    case 'network_full': {
      const detail = `Your network (/24, /48) has ${table.unproven.entries_max_per_network} unproven entries, which leave after ${table.unproven.listed_days} days. ${prove}`
      return { ok: false, problem: problem(RATE_CODE, detail, { retry_after_s: DAY_S }) }
    }
    case 'domain_full': {
      const detail = `${domain} has ${table.proof.entries_max_per_domain} proven entries, which is the maximum for one domain.`
      return { ok: false, problem: problem(RATE_CODE, detail, { retry_after_s: DAY_S }) }
    }
  }
}

function pointerOf(field: string): string {
  return field === 'entry' || field === 'signature' ? `/${field}` : `/entry/${field}`
}

function fault(pointer: string, code: string, message: string): ProblemError {
  return { pointer, code, message }
}

function invalid(errors: ProblemError[]): Extract<RecordEnd, { ok: false }> {
  const [first] = errors
  const detail = `Nothing was kept. ${first === undefined ? '' : `${first.pointer.slice(1)}: ${first.message}`}`.trim()
  return { ok: false, problem: problem('INSURANCE_REQUEST_INVALID', detail, { errors }) }
}

/** The parts of all pages of one list, made once. */
interface ListParts {
  head: Record<string, unknown>
  /** `p_` or `u_` (proven or not) and the address, in the order of the list. */
  cursors: string[]
  /** By start and length. */
  pages: RecentMap<DirectoryPage>
}

/** A page as JSON text; the same object while the list is the same. */
export interface DirectoryPage {
  readonly text: string
}

/** A directory whose list was read once; kept as long as the list is. */
const LISTS = new WeakMap<readonly UnderwriterRow[], ListParts>()

/** One page of the entries that are listed now, proven ones first, with the hash of the whole list. */
export async function directoryPage(
  parts: Pick<InsuranceParts, 'clock' | 'crypto' | 'registrar' | 'insurance'>,
  { limit = limits.directory_page, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): Promise<DirectoryPage> {
  const rows = await parts.insurance.underwriters(Math.floor(parts.clock.now_ms() / 1_000))
  const list = LISTS.get(rows) ?? listParts(parts, rows)
  LISTS.set(rows, list)
  const start = cursor === undefined ? 0 : firstAfter(list.cursors, cursor)
  const key = `${start} ${limit}`
  const page = list.pages.get(key) ?? { text: pageText(rows, list, start, limit) }
  list.pages.set(key, page)
  return page
}

function listParts({ crypto, registrar }: Pick<InsuranceParts, 'crypto' | 'registrar'>, rows: readonly UnderwriterRow[]): ListParts {
  const head = {
    standard: POL.standard,
    policy_hash: POL.policy_hash,
    origin: registrar.origin,
    vetted: false,
    notice: LISTING_NOTICE,
    count: rows.length,
    proven_count: rows.filter(({ proven_s }) => proven_s !== null).length,
    most: POL.table.entries_max,
    directory_hash: crypto.keccak256Hex(canonicalText(rows.map(({ entry_hash }) => entry_hash))),
  }
  const cursors = rows.map(({ proven_s, address }) => `${proven_s === null ? 'u' : 'p'}_${address.slice(2)}`)
  return { head, cursors, pages: createRecentMap(limits.directory_pages_kept) }
}

function pageText(rows: readonly UnderwriterRow[], { head, cursors }: ListParts, start: number, limit: number): string {
  const end = start + limit
  const underwriters = rows.slice(start, end).map((row) => {
    const entry = storedEntry(row.entry)
    return { ...listedUnderwriter(row, entry), entry }
  })
  const next_cursor = end < rows.length ? (cursors[end - 1] ?? null) : null
  return JSON.stringify({ ...head, next_cursor, underwriters })
}

/** Index of the first entry behind a cursor, whose own entry may be gone. */
function firstAfter(cursors: readonly string[], cursor: string): number {
  const found = cursors.findIndex((one) => one > cursor)
  return found === -1 ? cursors.length : found
}

/** Binds a policy by the signature of its underwriter: of its key, or one that its contract wallet accepts. The first good signature stays. */
export async function countersignPolicy(
  parts: Pick<InsuranceParts, 'clock' | 'crypto' | 'insurance' | 'registrar' | 'contracts'>,
  policy_id: string,
  signature: string | null,
  client: string,
): Promise<RecordEnd> {
  const { clock, insurance } = parts
  const found = await insurance.policy(policy_id)
  if (found === null) return policyNotFound()
  const policy = standing(found)
  const accepted = await acceptCountersignature(parts, policy, signature?.toLowerCase() ?? null, client)
  if (!accepted.ok) return accepted
  const { underwriter_address, policyholder, coverage_minor, effective_from, effective_to } = policy
  const kept = await insurance.countersign(policy_id, accepted.countersignature, {
    type: 'policy.bound',
    key: policy_id,
    owners: policyholder === null ? [underwriter_address] : [underwriter_address, policyholder],
    at_ms: clock.now_ms(),
    data: { policy_id, underwriter_address, policyholder, coverage_minor, effective_from, effective_to },
  })
  return kept === null ? policyNotFound() : { ok: true, created: policy.status !== 'BOUND', body: { certificate: standing(kept) } }
}

/**
 * A plain signature is checked without any read; a contract wallet is asked within the budget of the client, and only for a policy that is not bound.
 * The registrar attests its answer, because no verifier can ask a contract offline.
 */
async function acceptCountersignature(
  { clock, crypto, registrar, contracts }: Pick<InsuranceParts, 'clock' | 'crypto' | 'registrar' | 'contracts'>,
  policy: Policy,
  signature: string | null,
  client: string,
): Promise<{ ok: true; countersignature: Countersignature } | Extract<RecordEnd, { ok: false }>> {
  if (signature !== null && isCountersigned(policy, signature, crypto))
    return { ok: true, countersignature: { underwriter_signature: signature, underwriter_attestation: null } }
  const wrong = invalid([fault('/signature', signature === null ? 'missing' : 'signature', COUNTERSIGNATURE_WORDS)])
  wrong.problem.extra = { sign: countersignRequest(policy, registrar.origin, crypto) }
  const digest = countersignDigest(policy, crypto)
  // Only the registrar of the record can attest.
  const may_ask = policy.status !== 'BOUND' && policy.registrar === registrar.address
  if (signature === null || digest === null || contracts === null || !may_ask) return wrong
  const question = { wallet: policy.underwriter_address, digest, signature, client, wrong: wrong.problem, rate_code: RATE_CODE }
  const refusal = await contracts.refusal(question)
  if (refusal !== null) return { ok: false, problem: refusal }
  const checked_at = Math.floor(clock.now_ms() / 1_000)
  const registrar_signature = registrar.sign(attestationDigest(policy, signature, checked_at, crypto))
  const attestation: ContractAttestation = { method: 'erc1271', checked_at, registrar_signature }
  return { ok: true, countersignature: { underwriter_signature: signature, underwriter_attestation: canonicalText(attestation) } }
}

const COUNTERSIGNATURE_WORDS =
  'It must be the EIP-712 signature of the underwriter over this policy: 65 bytes by its key, or a signature that its contract wallet accepts (ERC-1271).'

/** Current certificate of a policy; anyone who has its id may read it. */
export async function policyShown({ crypto, insurance }: Pick<Sources, 'crypto' | 'insurance'>, policy_id: string): Promise<RecordEnd> {
  const found = await insurance.policy(policy_id)
  if (found === null) return policyNotFound()
  const certificate = standing(found)
  return { ok: true, created: false, body: { certificate, verification: verifyPolicy(certificate, crypto) } }
}

export function policyNotFound(): Extract<RecordEnd, { ok: false }> {
  return { ok: false, problem: problem('POLICY_NOT_FOUND', 'No certificate of this id is registered here.') }
}

/** The registrar of a deployment: its receipt key, its published keys, and its origin, which is known once the server listens. */
export function createRegistrar(signer: Signer, keys: KeyList, origins: { readonly base_url: string }, chain_id: number): Registrar {
  return {
    get origin() {
      return origins.base_url
    },
    chain_id,
    address: signer.address,
    sign: (digest) => signer.sign(digest),
    owns: (address, ts) => judgeKey(keys, address, ts).signer_valid_at_ts,
  }
}

/**
 * The store with its list of entries kept in memory for a few seconds, and until this process writes to it. The list is the same array while
 * nothing changed, so that what is derived from it can be kept with it. A write by another process is seen when the time is over.
 */
export function cachedDirectory(store: InsuranceStore, clock: SteadyClock): InsuranceStore {
  let known: { rows: Promise<UnderwriterRow[]>; read_ms: number } | null = null
  const forget = () => (known = null)
  return {
    underwriters(now_s) {
      const age_ms = known === null ? Infinity : clock.steady_ms() - known.read_ms
      if (known !== null && age_ms >= 0 && age_ms < limits.directory_cache_ms) return known.rows
      const read = { rows: store.underwriters(now_s), read_ms: clock.steady_ms() }
      known = read
      read.rows.catch(() => {
        if (known === read) forget()
      })
      return read.rows
    },
    register: (row, networks, bounds, now_s) => store.register(row, networks, bounds, now_s).finally(forget),
    remove: (address, now_s) => store.remove(address, now_s).finally(forget),
    underwriter: (address) => store.underwriter(address),
    bind: (policy) => store.bind(policy),
    policy: (policy_id) => store.policy(policy_id),
    countersign: (policy_id, signature, event) => store.countersign(policy_id, signature, event),
  }
}
