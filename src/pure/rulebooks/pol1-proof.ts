/** The file by which a domain names its underwriters: `{"underwriters": ["0x…"]}` at a fixed path of the host of `terms_uri`. */
import { readVendorDomain } from '../checks/vendor-domain.ts'
import { underwriterId, type SignedEntry } from './pol1-entry.ts'
import { POL } from './pol1-table.ts'

/** Domain of the terms that can prove an entry, or why none can. */
export type ProofDomain = { ok: true; host: string; registrable: string; url: string } | { ok: false; reason: string }

/** Reads the host of `terms_uri`. Names below a shared platform such as github.io are refused: anyone can get one in a minute. */
export function proofDomain(terms_uri: string): ProofDomain {
  const { host, port } = URL.canParse(terms_uri) ? new URL(terms_uri) : { host: '', port: '' }
  const domain = port === '' ? readVendorDomain(host) : null
  if (domain === null) return { ok: false, reason: 'terms_uri must name a registered domain, without an IP address and without a port.' }
  if (domain.shared_platform !== null) {
    return {
      ok: false,
      reason: `${domain.shared_platform} gives names to anyone, so a name below it proves nothing. Use a domain of your own.`,
    }
  }
  return { ok: true, host: domain.host, registrable: domain.registrable, url: `https://${domain.host}${POL.table.proof.path}` }
}

/** Whether the text of a proof file names this lower-case address; null for a text that is not a proof file. */
export function namesUnderwriter(text: string, address: string): boolean | null {
  const named = underwritersIn(text)
  if (named === null || named.length > POL.table.proof.addresses_max) return null
  return named.some((one) => typeof one === 'string' && one.toLowerCase() === address)
}

function underwritersIn(text: string): unknown[] | null {
  try {
    const file: unknown = JSON.parse(text)
    const named: unknown = typeof file === 'object' && file !== null && 'underwriters' in file ? file.underwriters : null
    return Array.isArray(named) ? named : null
  } catch {
    return null
  }
}

/** An entry as the store holds it, as far as answers show it. */
export interface ListedRow {
  address: string
  entry_hash: string
  entry: string
  proven_s: number | null
  proof_source: string | null
  listed_until_s: number
}

/** Members by which every answer says whether an entry is proven, by which domain, when and how. */
function proofShown({ proven_s, proof_source, listed_until_s }: ListedRow, { terms_uri }: Pick<SignedEntry, 'terms_uri'>) {
  return {
    proven: proven_s !== null,
    proven_domain: proven_s === null ? null : new URL(terms_uri).hostname,
    proven_at: proven_s === null ? null : new Date(proven_s * 1_000).toISOString(),
    proof_source,
    listed_until: listed_until_s,
  }
}

/** Head of an entry in a list. */
export function listedUnderwriter(row: ListedRow, entry: SignedEntry) {
  return { underwriter_id: underwriterId(row.address), entry_hash: row.entry_hash, ...proofShown(row, entry), vetted: false as const }
}
