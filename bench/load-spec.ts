/** What a generator sends, and what it saw. The generator of this folder reads the first from its argument and prints the second as JSON. */

export interface LoadSpec {
  port: number
  path: string
  headers: Record<string, string>
  /** Request number n carries body n modulo their count. */
  bodies: string[]
  /** Request number n comes from client n modulo this count, by X-Forwarded-For. */
  clients: number
  connections: number
  warm_up_s: number
  measured_s: number
  /** The server, whose processor time is read around the measured time. */
  server_pid: number
}

export interface LoadResult {
  /** Answers within the measured time. */
  answers: number
  seconds: number
  /** Answers other than 200 and broken connections, warm-up included. */
  not_200: number
  p50_ms: number
  p99_ms: number
  max_ms: number
  server_cpu_s: number | null
  generator_cpu_s: number
  /** Answers that came in all, warm-up included; null when the generator cannot tell. */
  answers_ever: number | null
  /** Answers taken out of the measured time, for a look at what they say. */
  samples: Sample[]
}

export interface Sample {
  /** Index into `bodies`. */
  body: number
  answer: string
}

/** Documentation and benchmark addresses: 198.18.0.0/15 (RFC 2544). */
export function clientAddress(client: number): string {
  return `198.18.${client >> 8}.${client & 255}`
}
