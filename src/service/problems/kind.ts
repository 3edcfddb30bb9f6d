type Phase = 'challenge' | 'signature' | 'settlement' | 'tool' | 'network'

export interface ProblemKind {
  status: number
  title: string
  phase: Phase
  /** The same request may succeed later. */
  retryable: boolean
  /** Who can mend it. */
  fault: 'caller' | 'service' | 'source'
  description: string
}
