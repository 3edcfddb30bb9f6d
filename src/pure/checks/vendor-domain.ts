import { parse } from 'tldts'

/** A domain, or the domain of an e-mail address. */
export interface VendorDomain {
  /** The whole host in ASCII form, lower case. */
  host: string
  /** What somebody registered: one label below a public suffix. */
  registrable: string
  public_suffix: string
  /** The platform, such as `github.io`, under which anybody may have this name at once; the age of its domain says nothing of them. */
  shared_platform: string | null
  /** Whether an e-mail address was given. */
  mailbox: boolean
}

/** The public suffix list as tldts 7.4.9 carries it. */
export const PUBLIC_SUFFIXES_AS_OF = 'tldts 7.4.9'

/** DNS: a name of at most 253 characters. */
const HOST_CHARS = 253

/**
 * Reads a domain, an e-mail address as mail programs write it ("Acme <billing@acme.example>"), or an http(s) address. International names
 * are brought to their ASCII form (as the WHATWG URL standard does it), so `bücher.example` and its xn-- form are one. Null for IP addresses,
 * single labels, public suffixes, addresses with a user name before the host, several addresses and everything else.
 */
export function readVendorDomain(text: string): VendorDomain | null {
  const address = bareAddress(text)
  const mailbox = /^[^\s@/]{1,64}@[^\s@/]+$/.test(address)
  const named = mailbox ? address.slice(address.lastIndexOf('@') + 1) : address.replace(/^https?:\/\/([^/?#\s]+).*$/i, '$1')
  const bare = named.replace(/:[0-9]{1,5}$/, '')
  if (/[\s@/\\?#:%[\]]/.test(bare)) return null
  const host = asciiHost(bare)
  if (host === null || host.length > HOST_CHARS) return null
  const { domain, publicSuffix, isIp } = parse(host, { allowPrivateDomains: false })
  if (isIp === true || domain === null || publicSuffix === null) return null
  const privately = parse(host, { allowPrivateDomains: true })
  const shared_platform = privately.isPrivate === true && privately.domain !== null ? privately.publicSuffix : null
  return { host, registrable: domain, public_suffix: publicSuffix, shared_platform, mailbox }
}

/** Without a display name, a comment behind, `mailto:` and the punctuation of a sentence or list (RFC 5322, 3.4; RFC 6068). */
function bareAddress(text: string): string {
  const plain = text.trim()
  const named = /<([^<>]{1,320})>[\s,;.]{0,16}$/.exec(plain)?.[1] ?? plain.replace(/\([^()]{0,200}\)$/, '')
  return named
    .trim()
    .replace(/^mailto:/i, '')
    .replace(/[,;>]{1,16}$/, '')
    .replace(/^[<"']{1,4}|["']{1,4}$/g, '')
    .trim()
}

function asciiHost(name: string): string | null {
  const url = URL.canParse(`http://${name}/`) ? new URL(`http://${name}/`) : null
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host) ? host : null
}
