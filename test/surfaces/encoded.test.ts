import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startTestApp, type TestApp } from '../support/app.ts'

let app: TestApp
before(async () => {
  app = await startTestApp()
})
after(() => app.stop())

interface Raw {
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

/** The bytes as they come over the wire; `fetch` would decode them. */
function raw(path: string, accept_encoding: string | null): Promise<Raw> {
  const headers = { accept: 'text/html', ...(accept_encoding === null ? {} : { 'accept-encoding': accept_encoding }) }
  return new Promise((resolve, reject) => {
    const sent = request(`${app.url}${path}`, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(chunks) }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

const stylePath = async () => /href="(\/assets\/[^"]+\/style\.css)"/.exec((await raw('/', null)).bytes.toString())?.[1] ?? ''

test('pages, documents and assets come in the coding that the client takes', async () => {
  for (const path of ['/', '/tools/iban-check', '/verify', '/openapi.json', await stylePath()]) {
    const plain = await raw(path, null)
    assert.equal(plain.headers['content-encoding'], undefined, path)
    for (const [accept, coding] of [
      ['gzip, deflate, br', 'br'],
      ['BR;q=0.1, gzip;q=1', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['*', 'br'],
      ['*;q=0', undefined],
      ['br;q=0.000, gzip;q=0, *', undefined],
      ['identity', undefined],
      ['deflate, zstd', undefined],
      ['', undefined],
      [';;,,=', undefined],
    ] as const) {
      const { headers, bytes } = await raw(path, accept)
      assert.equal(headers['content-encoding'], coding, `${path} for ${accept}`)
      assert.match(String(headers['vary']), /Accept-Encoding/, path)
      assert.equal(headers['etag'], plain.headers['etag'], path)
      const body = coding === 'br' ? brotliDecompressSync(bytes) : coding === 'gzip' ? gunzipSync(bytes) : bytes
      assert.ok(body.equals(plain.bytes), `${path} for ${accept}`)
      if (coding !== undefined) assert.ok(bytes.length < plain.bytes.length / 2, `${path} for ${accept} has ${bytes.length} bytes`)
    }
  }
})

test('what fits a packet is left as it is', async () => {
  assert.equal((await raw('/robots.txt', 'br')).headers['content-encoding'], undefined)
})

test('a page that stands in two forms says so beside its coding', async () => {
  assert.equal((await raw('/', 'br')).headers['vary'], 'Accept, Accept-Encoding')
})
