import { canonicalText } from '../../pure/receipts/canonical.ts'
import { readEntry, underwriterId, type SignedEntry, type UnprovedEntry } from '../../pure/rulebooks/pol1-entry.ts'
import { countersigning, standing, storedEntry } from '../../pure/rulebooks/pol1-issue.ts'
import { LISTING_NOTICE, POL } from '../../pure/rulebooks/pol1-table.ts'
import { verifyPolicy } from '../../pure/rulebooks/pol1.ts'
import type { Sources } from '../catalogue/define.ts'
import { createContractSignatures } from '../invoices/contract-signature.ts'
import { problem, type Problem, type ProblemError } from '../problems.ts'

type Needs = Pick<Sources, 'clock' | 'crypto' | 'registrar' | 'insurance'>

/** How a request for a record ends. */
export type RecordEnd = { ok: true; created: boolean; body: Record<string, unknown> } | { ok: false; problem: Problem }

/**
 * Takes `{entry, signature}` into the directory: one entry an address, the one signed last. Free; nothing is vetted. An underwriter that is a
 * contract is asked on the chain (ERC-1271) whether the signature is its own; while the chain is down nobody can tell, and nothing is kept.
 */
export async function registerUnderwriter(needs: Needs & Pick<Sources, 'chain'>, given: unknown): Promise<RecordEnd> {
  const { clock, crypto, registrar } = needs
  const now_s = Math.floor(clock.now_ms() / 1_000)
  const read = readEntry(given, registrar.origin, now_s, crypto)
  if (read.ok) return keepEntry(needs, read, now_s)
  const { unproved, faults } = read
  const taken = unproved === undefined ? 'no' : await contractSigned(needs, unproved)
  if (taken === 'unknown') return { ok: false, problem: chainDown() }
  if (taken === 'yes' && unproved !== undefined) return keepEntry(needs, unproved, now_s)
  return invalid(faults.map(({ field, message }) => fault(pointerOf(field), 'entry_fault', message)))
}

async function contractSigned({ chain }: Pick<Sources, 'chain'>, { entry, digest }: UnprovedEntry): Promise<'yes' | 'no' | 'unknown'> {
  const contracts = createContractSignatures((reads) => chain.atOneBlock((at) => at.read(reads)))
  try {
    return (await contracts.accepts(entry.underwriter, digest, entry.signature)) ? 'yes' : 'no'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'CHAIN_UNAVAILABLE') return 'unknown'
    throw error
  }
}

function chainDown(): Problem {
  const detail = 'The signature is not of the underwriter’s own key, and the chain, which could ask a contract wallet, does not answer now.'
  return problem('UPSTREAM_RPC_UNAVAILABLE', detail, { retry_after_s: 10 })
}

async function keepEntry(
  { insurance }: Needs,
  { entry, entry_hash }: { entry: SignedEntry; entry_hash: string },
  now_s: number,
): Promise<RecordEnd> {
  const { underwriter: address, issued_at: issued_s, valid_until: valid_until_s } = entry
  const row = { address, entry_hash, entry: canonicalText(entry), issued_s, valid_until_s }
  const registered = await insurance.register(row, POL.table.entries_max, now_s)
  switch (registered) {
    case 'full':
      return { ok: false, problem: problem('INSURANCE_DIRECTORY_FULL', `The directory holds ${POL.table.entries_max} entries.`) }
    case 'older':
      return invalid([fault('/entry/issued_at', 'older', 'The directory has an entry of this address that was issued then or later.')])
    case 'registered':
    case 'unchanged': {
      const created = registered === 'registered'
      const words = { underwriter_id: underwriterId(address), entry_hash, vetted: false, notice: LISTING_NOTICE }
      return { ok: true, created, body: { status: registered, ...words, entry } }
    }
  }
}

function pointerOf(field: string): string {
  return field === 'entry' || field === 'signature' ? `/${field}` : `/entry/${field}`
}

function fault(pointer: string, code: string, message: string): ProblemError {
  return { pointer, code, message }
}

function invalid(errors: ProblemError[]): RecordEnd {
  const [first] = errors
  const detail = `Nothing was kept. ${first === undefined ? '' : `${first.pointer.slice(1)}: ${first.message}`}`.trim()
  return { ok: false, problem: problem('INSURANCE_REQUEST_INVALID', detail, { errors }) }
}

/** Every entry that holds now, with the hash of the list. */
export async function directoryShown({ clock, crypto, registrar, insurance }: Needs): Promise<Record<string, unknown>> {
  const rows = await insurance.underwriters(Math.floor(clock.now_ms() / 1_000))
  const underwriters = rows.map(({ address, entry_hash, entry }) => ({
    underwriter_id: underwriterId(address),
    entry_hash,
    vetted: false,
    entry: storedEntry(entry),
  }))
  return {
    standard: POL.standard,
    policy_hash: POL.policy_hash,
    origin: registrar.origin,
    vetted: false,
    notice: LISTING_NOTICE,
    count: underwriters.length,
    most: POL.table.entries_max,
    directory_hash: crypto.keccak256Hex(canonicalText(rows.map(({ entry_hash }) => entry_hash))),
    underwriters,
  }
}

/** Takes `{policy_id, signature}`: the underwriter's own key binds the policy. The first good signature stays. */
export async function countersignPolicy({ crypto, insurance }: Needs, given: unknown): Promise<RecordEnd> {
  const { policy_id, signature } = fieldsOf(given)
  if (typeof policy_id !== 'string' || !isPolicyId(policy_id))
    return invalid([fault('/policy_id', 'wrong_format', 'It must be that of a certificate: pol_ and 32 digits 0-9 and a-f.')])
  const found = await insurance.policy(policy_id)
  if (found === null) return notFound()
  const policy = standing(found)
  if (typeof signature !== 'string' || !countersigning(policy, crypto).accepts(signature)) {
    const message =
      'It must be the 65-byte EIP-712 signature of the underwriter’s own key over this policy: certificates verify offline, where no contract can be asked.'
    return invalid([fault('/signature', 'signature', message)])
  }
  const kept = await insurance.countersign(policy_id, signature.toLowerCase())
  return kept === null ? notFound() : { ok: true, created: policy.status !== 'BOUND', body: { certificate: standing(kept) } }
}

/** A certificate as it stands, for whoever knows its id. */
export async function policyShown({ crypto, insurance }: Needs, policy_id: string): Promise<RecordEnd> {
  const found = isPolicyId(policy_id) ? await insurance.policy(policy_id) : null
  if (found === null) return notFound()
  const certificate = standing(found)
  return { ok: true, created: false, body: { certificate, verification: verifyPolicy(certificate, crypto) } }
}

function isPolicyId(text: string): boolean {
  return /^pol_[0-9a-f]{32}$/.test(text)
}

function notFound(): RecordEnd {
  return { ok: false, problem: problem('POLICY_NOT_FOUND', 'No certificate of this id is registered here.') }
}

function fieldsOf(given: unknown): Record<string, unknown> {
  return typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {}
}
