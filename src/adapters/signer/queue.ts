import type { Signer, SigningQueue } from '../../ports/signer.ts'
import { Worker } from 'node:worker_threads'

/** Messages between the threads: concatenated digests, then as many signatures in the same order. */
export const DIGEST_BYTES = 32
export const SIGNATURE_BYTES = 65

/** Start data of the signing thread; the key never leaves the process. */
export interface SigningWorkerData {
  private_key: Uint8Array
  implementation: Signer['implementation']
}

/** Digests that one message carries: beyond it the first of them would wait for the last. */
const MESSAGE_DIGESTS = 32
/** Digests that the thread holds unsigned; what comes on top is signed here, so that nothing waits without bound. */
const BESIDE_DIGESTS = 96
/** A queue this short is signed in this thread immediately: a message costs more than it saves. */
const HERE_DIGESTS = 2

const MODULE = new URL('./signing-worker.ts', import.meta.url)

interface Waiting {
  digest: Uint8Array
  resolve(signature: string): void
  reject(error: unknown): void
}

/**
 * Signs the digests of one turn of the event loop: a single one in this thread immediately, more in a separate thread, in messages of
 * bounded size. The thread starts when it is first needed. Its signatures must equal those of this thread byte for byte; its first
 * message is checked for that. If it dies or differs, everything is signed in this thread from then on, and nothing is lost.
 */
export function createSigningQueue(signer: Signer, private_key: Uint8Array, onFault: (why: string) => void, module = MODULE): SigningQueue {
  return new Queue(signer, { private_key: Uint8Array.from(private_key), implementation: signer.implementation }, onFault, module)
}

class Queue implements SigningQueue {
  readonly #signer: Signer
  readonly #data: SigningWorkerData
  readonly #onFault: (why: string) => void
  readonly #module: URL
  #gathered: Waiting[] = []
  /** Messages under way, in the order in which the thread answers them. */
  #beside: Waiting[][] = []
  #beside_digests = 0
  #thread: Worker | null = null
  #trusted = false
  /** No thread, now and from now on. */
  #alone = false

  constructor(signer: Signer, data: SigningWorkerData, onFault: (why: string) => void, module: URL) {
    this.#signer = signer
    this.#data = data
    this.#onFault = onFault
    this.#module = module
  }

  sign(digest: Uint8Array): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#gathered.push({ digest, resolve, reject })
      if (this.#gathered.length === 1) setImmediate(() => this.#flush())
    })
  }

  waiting(): number {
    return this.#gathered.length + this.#beside_digests
  }

  async stop(): Promise<void> {
    this.#alone = true
    this.#flush()
    const thread = this.#thread
    this.#takeBack()
    await thread?.terminate()
  }

  #flush(): void {
    const gathered = this.#gathered
    this.#gathered = []
    for (let from = 0; from < gathered.length; from += MESSAGE_DIGESTS) {
      const part = gathered.slice(from, from + MESSAGE_DIGESTS)
      const here = this.#alone || part.length <= HERE_DIGESTS || this.#beside_digests + part.length > BESIDE_DIGESTS
      if (here) for (const one of part) this.#signHere(one)
      else this.#signBeside(part)
    }
  }

  #signHere({ digest, resolve, reject }: Waiting): void {
    try {
      resolve(this.#signer.sign(digest))
    } catch (error) {
      reject(error)
    }
  }

  #signBeside(part: Waiting[]): void {
    const thread = (this.#thread ??= this.#made())
    const digests = new Uint8Array(part.length * DIGEST_BYTES)
    for (const [index, { digest }] of part.entries()) digests.set(digest, index * DIGEST_BYTES)
    this.#beside.push(part)
    this.#beside_digests += part.length
    // The process must not end while an answer is due.
    thread.ref()
    thread.postMessage(digests, [digests.buffer])
  }

  #made(): Worker {
    const thread = new Worker(this.#module, { workerData: this.#data })
    thread.unref()
    thread.on('message', (signatures: Uint8Array) => this.#answered(signatures))
    thread.on('error', (error) => this.#gaveUp(error.message))
    thread.on('exit', () => this.#gaveUp('the thread ended'))
    return thread
  }

  #answered(bytes: Uint8Array): void {
    const part = this.#beside[0]
    if (part === undefined || this.#alone) return
    const signatures = part.map((_, index) => this.#read(bytes, index))
    const [first, first_digest] = [signatures[0], part[0]?.digest]
    if (!this.#trusted && (first_digest === undefined || this.#signer.sign(first_digest) !== first)) {
      this.#gaveUp('it signs otherwise than the signer here')
      return
    }
    this.#trusted = true
    this.#beside.shift()
    this.#beside_digests -= part.length
    if (this.#beside.length === 0) this.#thread?.unref()
    for (const [index, { resolve }] of part.entries()) resolve(signatures[index] ?? '')
  }

  #read(bytes: Uint8Array, index: number): string {
    return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + index * SIGNATURE_BYTES, SIGNATURE_BYTES).toString('hex')}`
  }

  #gaveUp(why: string): void {
    if (this.#alone) return
    this.#alone = true
    this.#onFault(why)
    void this.#thread?.terminate()
    this.#takeBack()
  }

  /** Digests that the thread did not answer are signed here. */
  #takeBack(): void {
    const open = this.#beside.flat()
    this.#beside = []
    this.#beside_digests = 0
    this.#thread = null
    for (const one of open) this.#signHere(one)
  }
}
