import { isObject } from '../pure/is-object.ts'
import { canonicalText } from '../pure/receipts/canonical.ts'
import { toHex } from '../pure/receipts/crypto.ts'
import { isSigningKind, signableDigest, signableForm } from '../pure/signing/kinds.ts'
import { SIGNING_KINDS, type Signable, type SigningKind, type SignRequest } from '../pure/signing/sign-request.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit, printable, unknownName } from './errors.ts'
import { readJsonFile } from './input.ts'
import { keySigner } from './remote.ts'
import { allowedPayment, checkPayment } from './sign-payment.ts'
import { remark, say } from './terminal.ts'

/**
 * `assay sign <kind> <answer.json | ->`: signs what an answer asks for in its member `sign`, and prints the signature in the request that takes it. Only a
 * document of the given kind is signed: same method, same types or form of text. Everything that is signed is shown first. A document that moves
 * money is signed only within the limits of the options.
 */
export async function run(invocation: Invocation): Promise<Exit> {
  const [kind, name] = invocation.words
  const kinds = Object.keys(SIGNING_KINDS)
  if (kind === undefined || name === undefined)
    throw new CliError('usage', `Give the kind and the file with the answer, or - for standard input. Kinds: ${kinds.join(', ')}.`)
  if (!isSigningKind(kind)) throw unknownName('kind', kind, kinds, `The kinds are ${kinds.join(', ')}.`)
  const file = invocation.text('key-file')
  if (file === null) throw new CliError('usage', 'Give the key that signs: --key-file <file>.')
  const allowed = kind === 'invoice-payment' ? allowedPayment(invocation) : null
  const signer = keySigner(file)
  const request = signIn(await readJsonFile(name), kind)
  if (request.signer !== null && request.signer.toLowerCase() !== signer.address)
    throw new CliError(
      'usage',
      `The document asks for the signature of ${printable(request.signer)}; the key is that of ${signer.address}.`,
    )
  const filled = withSigner(request, signer.address)
  const signable = checkedSignable(filled, kind)
  if (allowed !== null && signable.method === 'eth_signTypedData_v4') await checkPayment(signable.typed_data, filled, allowed)
  const digest = digestOf(signable)
  for (const line of shownLines(kind, signable, toHex(digest))) remark(line)
  const signature = signer.sign(digest)
  const submit = JSON.parse(JSON.stringify(filled.submit).replaceAll('{signature}', signature)) as unknown
  say(JSON.stringify({ kind, signer: signer.address, digest: toHex(digest), signature, submit }))
  return 'ok'
}

/** Member `sign` of an answer, of its result, or the document itself. Throws if there is none of this kind. */
function signIn(document: unknown, kind: SigningKind): SignRequest {
  const members = isObject(document) ? document : {}
  const result = isObject(members['result']) ? members['result'] : {}
  const found = [members['sign'], result['sign'], members].find((one) => isObject(one) && typeof one['kind'] === 'string')
  if (!isObject(found)) throw new CliError('data', 'The document has no member sign.')
  if (found['kind'] !== kind)
    throw new CliError('data', `The document asks for a signature of the kind ${printable(String(found['kind']))}, not ${kind}.`)
  const { signer, submit, method } = found
  if ((signer !== null && typeof signer !== 'string') || !isObject(submit) || typeof method !== 'string')
    throw new CliError('data', 'The member sign has no signer, method or submit.')
  return found as unknown as SignRequest
}

/** Replaces the placeholders that `fill_in` names by the address of the key. */
function withSigner(request: SignRequest, address: string): SignRequest {
  const copy = structuredClone(request)
  for (const pointer of Array.isArray(request.fill_in) ? request.fill_in : []) {
    const names = String(pointer).split('/').slice(1)
    const last = names.pop() ?? ''
    const parent = names.reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : null), copy)
    if (!isObject(parent) || !Object.hasOwn(parent, last) || !/^\{\w+\}$/.test(String(parent[last])))
      throw new CliError('data', `There is nothing to fill in at ${printable(String(pointer))}.`)
    parent[last] = address
  }
  return copy
}

/** The signed part, if it has the form of its kind: a document could otherwise have another act signed under a harmless name. */
function checkedSignable(request: SignRequest, kind: SigningKind): Signable {
  const form = signableForm(kind)
  const refused = (what: string) => new CliError('negative', `The document is not of the kind ${kind}: ${what}. Nothing was signed.`)
  if (request.method !== form.method) throw refused(`the method is ${printable(request.method)}, expected ${form.method}`)
  if (request.method === 'eth_signTypedData_v4') {
    const { typed_data } = request
    if (form.method !== 'eth_signTypedData_v4' || !isObject(typed_data) || !isObject(typed_data['domain']))
      throw refused('it has no typed data')
    if (canonicalText(typed_data.types) !== canonicalText(form.types) || typed_data.primaryType !== form.primaryType)
      throw refused('its types are others')
    const { name, version } = typed_data.domain
    // The domain of a payment is that of the token, whose name differs between chains; it is shown.
    if (kind !== 'invoice-payment' && (name !== form.domain.name || version !== form.domain.version)) throw refused('its domain is another')
    return { method: request.method, typed_data }
  }
  const { message } = request
  if (form.method === 'eth_signTypedData_v4' || typeof message !== 'string' || !message.startsWith(form.prefix))
    throw refused('its text has another form')
  return { method: request.method, message }
}

function digestOf(signable: Signable): Uint8Array {
  try {
    return signableDigest(signable)
  } catch {
    throw new CliError('data', 'The typed data does not fit its types. Nothing was signed.')
  }
}

function shownLines(kind: SigningKind, signable: Signable, digest: string): string[] {
  const members =
    signable.method === 'eth_signTypedData_v4'
      ? [signable.typed_data.domain, signable.typed_data.message].flatMap((part) =>
          Object.entries(part).map(
            ([name, value]) => `  ${printable(name)}: ${printable(typeof value === 'string' ? value : JSON.stringify(value))}`,
          ),
        )
      : [`  ${printable(signable.message)}`]
  return [`assay: signing ${kind}: ${SIGNING_KINDS[kind].title}`, ...members, `  digest: ${digest}`]
}
