/** From and to are lower-case addresses. */
interface Moved {
  from: string
  to: string
  amount_minor: bigint
}

export interface Flow {
  count: number
  total_minor: bigint
}

/** Sums of incoming and outgoing transfers; a transfer to oneself is neither, and counted once. Exact. */
export interface TransferTotals {
  sent: Flow
  received: Flow
  to_self: Flow
  /** Received less sent. */
  net_minor: bigint
  /** Addresses on the other side. */
  counterparties: number
}

export function transferTotals(account: string, transfers: readonly Moved[]): TransferTotals {
  const totals = { sent: nothing(), received: nothing(), to_self: nothing() }
  const others = new Set<string>()
  for (const { from, to, amount_minor } of transfers) {
    const flow = from === to ? totals.to_self : from === account ? totals.sent : totals.received
    flow.count += 1
    flow.total_minor += amount_minor
    if (from !== to) others.add(from === account ? to : from)
  }
  return { ...totals, net_minor: totals.received.total_minor - totals.sent.total_minor, counterparties: others.size }
}

function nothing(): Flow {
  return { count: 0, total_minor: 0n }
}
