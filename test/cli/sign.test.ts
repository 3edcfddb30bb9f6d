/** `assay sign`: each kind is signed as its test vector says; a document of another kind never. */
import assert from 'node:assert/strict'
import { chmod } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { hashTypedData, keccak256, hashMessage, recoverAddress, stringToHex, type Hex, type TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { signingKindDocument } from '../../src/pure/signing/kinds.ts'
import { SIGNING_KINDS, type SigningKind } from '../../src/pure/signing/sign-request.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

const KEY = `0x${'0'.repeat(63)}1` as const
const ORIGIN = 'https://assay.example'
const KINDS = Object.keys(SIGNING_KINDS) as SigningKind[]

let desk: Desk
let key_file: string
before(async () => {
  desk = await openDesk()
  key_file = await desk.file('key', KEY)
  await chmod(key_file, 0o600)
})
after(() => desk.clear())

const exampleOf = (kind: SigningKind) => signingKindDocument(kind, ORIGIN).example

test('every kind but a payment is signed; other libraries recover the key from what is shown', async () => {
  const { address } = privateKeyToAccount(KEY)
  for (const kind of KINDS.filter((one) => one !== 'invoice-payment')) {
    const sign = exampleOf(kind)
    const { code, stdout, stderr } = await desk.run(['sign', kind, '-', '--key-file', key_file], {
      input: JSON.stringify({ result: { sign } }),
    })
    assert.equal(code, 0, `${kind}: ${stderr}`)
    const { digest, signature, submit, signer } = parsed(stdout) as { digest: Hex; signature: Hex; submit: object; signer: string }
    const expected =
      sign.method === 'eth_signTypedData_v4'
        ? hashTypedData(sign.typed_data as unknown as TypedDataDefinition)
        : sign.method === 'personal_sign'
          ? hashMessage(sign.message)
          : keccak256(stringToHex(sign.message))
    assert.equal(digest, expected, kind)
    assert.equal(await recoverAddress({ hash: digest, signature }), address)
    assert.equal(signer, address.toLowerCase())
    assert.ok(JSON.stringify(submit).includes(signature) && !JSON.stringify(submit).includes('{signature}'), kind)
    assert.ok(stderr.includes(digest) && !`${stdout}${stderr}`.includes(KEY.slice(2)), kind)
    const values =
      sign.method === 'eth_signTypedData_v4'
        ? Object.values(sign.typed_data.message).filter((one) => typeof one === 'string')
        : [sign.message]
    for (const value of values) assert.ok(stderr.includes(value), `${kind}: ${value} is not shown`)
  }
})

test('another act under the name of a kind, another signer and a broken document are refused', async () => {
  const issue = exampleOf('invoice-issue')
  const payment = exampleOf('invoice-payment')
  const refused: [unknown, string, number, RegExp][] = [
    [{ ...payment, kind: 'invoice-issue' }, 'invoice-issue', 1, /its types are others\. Nothing was signed/],
    [payment, 'invoice-issue', 65, /of the kind invoice-payment, not invoice-issue/],
    [{ ...issue, signer: `0x${'12'.repeat(20)}` }, 'invoice-issue', 2, /asks for the signature of 0x1212/],
    [{ ...exampleOf('aci-1-edge'), kind: 'pod-1-role' }, 'pod-1-role', 1, /its text has another form/],
    [{ ...exampleOf('pilot-credit'), kind: 'invoice-void' }, 'invoice-void', 1, /the method is personal_sign/],
    [{ ...issue, fill_in: ['/typed_data/domain/name'] }, 'invoice-issue', 65, /nothing to fill in/],
    [{}, 'invoice-issue', 65, /no member sign/],
    [issue, 'invoice-isue', 2, /invoice-issue/],
  ]
  for (const [document, kind, code, words] of refused) {
    const ended = await desk.run(['sign', kind, '-', '--key-file', key_file], { input: JSON.stringify(document) })
    assert.equal(ended.code, code, ended.stderr)
    assert.match(ended.stderr, words)
    assert.equal(ended.stdout, '')
  }
  assert.equal((await desk.run(['sign', 'invoice-issue', '-'])).code, 2)
})
