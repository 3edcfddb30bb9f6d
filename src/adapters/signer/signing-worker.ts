/** A thread that signs: takes the bytes of many digests and answers with those of as many signatures. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Signer } from '../../ports/signer.ts'
import { loadNative, nativeSigner } from './native.ts'
import { nobleSigner } from './noble.ts'
import { DIGEST_BYTES, SIGNATURE_BYTES, type SigningWorkerData } from './queue.ts'

const { private_key, implementation } = workerData as SigningWorkerData
const signer: Signer = implementation === 'noble' ? nobleSigner(private_key) : nativeSigner(loadNative(), private_key)

parentPort?.on('message', (digests: Uint8Array) => {
  const count = digests.length / DIGEST_BYTES
  const signatures = Buffer.allocUnsafeSlow(count * SIGNATURE_BYTES)
  for (let index = 0; index < count; index++) {
    const digest = digests.subarray(index * DIGEST_BYTES, (index + 1) * DIGEST_BYTES)
    signatures.write(signer.sign(digest).slice(2), index * SIGNATURE_BYTES, 'hex')
  }
  parentPort?.postMessage(signatures, [signatures.buffer])
})
