/** Documents of what is signed, judged by viem and ajv alone. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hashTypedData, hashMessage, keccak256, stringToHex, type Hex, type TypedDataDefinition } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { asList, at, readJson } from '../support/documents.ts'
import { newAjv } from '../support/json-schema.ts'

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

interface Example {
  kind: string
  method: string
  typed_data?: TypedDataDefinition
  message?: string
  submit: { method: string; url: string; body: unknown }
}

/** Digest and signature as viem makes them. */
async function signedByViem({ method, typed_data, message = '' }: Example, key: Hex): Promise<{ digest: Hex; signature: Hex }> {
  const account = privateKeyToAccount(key)
  switch (method) {
    case 'eth_signTypedData_v4': {
      assert.ok(typed_data !== undefined)
      return { digest: hashTypedData(typed_data), signature: await account.signTypedData(typed_data) }
    }
    case 'personal_sign':
      return { digest: hashMessage(message), signature: await account.signMessage({ message }) }
    default: {
      const digest = keccak256(stringToHex(message))
      return { digest, signature: await sign({ hash: digest, privateKey: key, to: 'hex' }) }
    }
  }
}

test('every kind has a schema, an example and a test vector that viem reproduces', async () => {
  const { kinds, count } = await readJson(`${app.url}/v1/signing`)
  const listed = asList(kinds)
  assert.ok(listed.length >= 12 && count === listed.length)
  const openapi = await readJson(`${app.url}/openapi.json`)
  for (const { kind, url } of listed) {
    const found = await readJson(String(url))
    const example = found['example'] as Example
    const vector = found['test_vector'] as Record<'private_key' | 'signer' | 'digest' | 'signature', string>
    const expected = await signedByViem(example, vector.private_key as Hex)
    assert.deepEqual({ digest: vector.digest, signature: vector.signature }, expected, String(kind))
    assert.equal(vector.signer, privateKeyToAccount(vector.private_key as Hex).address.toLowerCase())
    const { method, typed_data, message } = example
    const signed = typed_data === undefined ? { method, message } : { method, typed_data }
    const validate = newAjv().compile(found['schema'] as object)
    assert.ok(validate(signed), `${String(kind)}: ${JSON.stringify(validate.errors)}`)
    assert.ok(!validate({ ...signed, method: 'eth_sign' }) && !validate({ method }))
    const path = new URL(example.submit.url).pathname.replaceAll('%7B', '{').replaceAll('%7D', '}')
    assert.ok(at(openapi, 'paths', path, 'post') !== undefined, `${path} is no operation`)
    assert.match(JSON.stringify(example.submit.body), /\{signature\}/)
    const page = await fetch(String(found['page']), { headers: { accept: 'text/html' } })
    assert.equal(page.status, 200, String(found['page']))
  }
})

test('an unknown kind is refused with the list of kinds, and llms.txt names the list', async () => {
  const unknown = await fetch(`${app.url}/v1/signing/permit`)
  const { code, detail } = (await unknown.json()) as { code: string; detail: string }
  assert.deepEqual([unknown.status, code], [404, 'NOT_FOUND'])
  assert.match(detail, /invoice-issue/)
  assert.match(await (await fetch(`${app.url}/llms.txt`)).text(), /\/v1\/signing/)
})
