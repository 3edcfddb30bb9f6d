import { domainToASCII } from 'node:url'
import type { WebhookStore, WebhookSubscription } from '../ports/webhooks.ts'
import { WEBHOOK_RULES } from '../service/limits.ts'
import type { Invocation } from './commands.ts'
import { type LedgerDesk, markMode, readEnvironment, withLedger } from './deployment.ts'
import { CliError, type Exit, unknownName } from './errors.ts'
import { printable, remark, say, table, terminalWidth, wantsJson } from './terminal.ts'

/** `assay webhooks list | remove`: subscriptions of this deployment. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [action = 'list', id] = invocation.words
  if (action !== 'list' && action !== 'remove') throw unknownName('action', action, ['list', 'remove'], 'Give list or remove.')
  if (action === 'list' && id !== undefined) throw new CliError('usage', 'An id goes with remove.')
  const filters = filtersOf(invocation, id)
  if (action === 'remove' && filters.length === 0)
    throw new CliError('usage', 'Name what is removed: an id (whs_…), --owner, --host, --network-hash or --dead.')
  const settings = readEnvironment()
  markMode(settings)
  const listed = async ({ store: { webhooks } }: LedgerDesk): Promise<Exit> => {
    const found = await matching(webhooks, filters)
    if (action === 'list') show(found, wantsJson(invocation))
    else if (found.length === 0) throw new CliError('no_input', 'No subscription matches; "assay webhooks list" shows them.')
    else await remove(webhooks, found, wantsJson(invocation))
    return 'ok'
  }
  return withLedger(settings, listed, { texts: true })
}

type Filter = (subscription: WebhookSubscription) => boolean

function filtersOf(invocation: Invocation, id: string | undefined): Filter[] {
  const filters: Filter[] = []
  const [owner, host, network] = [invocation.text('owner'), invocation.text('host'), invocation.text('network-hash')]
  if (id !== undefined) filters.push(({ subscription_id }) => subscription_id === id)
  if (owner !== null) filters.push((one) => one.owner === (owner.startsWith('0x') ? owner.toLowerCase() : owner))
  if (host !== null) filters.push(hostFilter(host))
  if (network !== null) filters.push((one) => one.network === network || one.provider === network)
  if (invocation.flag('dead')) filters.push(isDead)
  return filters
}

function hostFilter(given: string): Filter {
  const host = domainToASCII(given)
  if (host === '') throw new CliError('usage', `--host is ${JSON.stringify(given)}; expected a host such as example.com or 203.0.113.7.`)
  return ({ url }) => {
    const found = URL.parse(url)?.hostname ?? ''
    return found === host || found.endsWith(`.${host}`)
  }
}

function isDead({ state, failures }: WebhookSubscription): boolean {
  return state === 'expired' || state === 'refused' || failures >= WEBHOOK_RULES.pause_failures
}

const PAGE = 1_000

async function matching(store: WebhookStore, filters: readonly Filter[]): Promise<WebhookSubscription[]> {
  const found: WebhookSubscription[] = []
  for (let after = ''; ;) {
    const page = await store.subscriptions(after, PAGE)
    found.push(...page.filter((one) => filters.every((matches) => matches(one))))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return found
    after = last.subscription_id
  }
}

function show(found: readonly WebhookSubscription[], json: boolean): void {
  if (json) return say(JSON.stringify({ count: found.length, subscriptions: found.map(shown) }))
  const lines = found.map((one) => [one.subscription_id, one.owner, printable(one.url), stateText(one), instant(one.created_ms)])
  say(table([['id', 'owner', 'receiver', 'state', 'made'], ...lines], terminalWidth()).join('\n'))
}

/** Without the sealed secret. */
function shown(one: WebhookSubscription): Record<string, unknown> {
  const { subscription_id, owner, url, events, state, challenge_fault, paid, failures, failing_since_ms, dropped, network, provider } = one
  return {
    subscription_id,
    owner,
    url,
    events,
    state,
    reason: challenge_fault,
    owner_was_paid: paid,
    failures,
    failing_since: failing_since_ms === null ? null : instant(failing_since_ms),
    dropped,
    network_hash: network,
    provider_hash: provider,
    created_at: instant(one.created_ms),
  }
}

function stateText({ state, challenge_fault, failures }: WebhookSubscription): string {
  const reason = challenge_fault === null || state === 'verified' ? '' : ` (${printable(challenge_fault)})`
  return failures === 0 ? `${state}${reason}` : `${state}${reason}, ${failures} failures`
}

function instant(at_ms: number): string {
  return new Date(at_ms).toISOString()
}

async function remove(store: WebhookStore, found: readonly WebhookSubscription[], json: boolean): Promise<void> {
  const removed: string[] = []
  for (const { subscription_id } of found) if (await store.unsubscribe(subscription_id)) removed.push(subscription_id)
  if (json) say(JSON.stringify({ removed }))
  else say(`Removed ${removed.length} ${removed.length === 1 ? 'subscription' : 'subscriptions'} with the deliveries that waited.`)
  remark('The owner can subscribe again.')
}
