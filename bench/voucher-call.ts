import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createChannelHashes } from '../src/pure/payments/channels.ts'
import { newPayers, PAYMENT_HEADER, type Payers } from '../test/support/bulk-payments.ts'
import { assertAnswers, publishedKeys } from './call-requests.ts'
import {
  answersRatio,
  assertAllAnswered,
  type Contender,
  cpuRatio,
  duel,
  DUEL_HEADER,
  duelMethod,
  duelRows,
  limitNotes,
  samplesOf,
  type Standing,
} from './duel.ts'
import type { Sample } from './load-spec.ts'
import { OWN_PER_S, payingContender, PEER_PER_S, startPaid } from './paid-call.ts'
import { CALL, termsOf } from './payments.ts'
import { atLeast, atMost, type RunOptions, type SuiteReport } from './report.ts'
import { type ServerProcess, startServer, withFolder } from './server-process.ts'

const CHANNEL_PEER = fileURLToPath(new URL('peers/x402-channel-server.ts', import.meta.url))

/** Channels in one run, a multiple of the connections: each channel has its connection, so that its vouchers arrive in their order. */
const CHANNELS = 256
/** Signed for each second of a run with one connection. */
const ALONE_PER_S = 2_500

type Five = readonly [Standing, Standing, Standing, Standing, Standing]

/** A call paid by a voucher of a payment channel, against a free call, the scheme exact, and the middleware of x402 with its own channels. */
export function voucherCall(given: RunOptions): Promise<SuiteReport> {
  // No voucher may be sent twice, and only the generator of this folder can do that.
  const options = { ...given, generator: 'own' } as const
  return withFolder(async (folder) => {
    const file = (name: string) => join(folder, name)
    const peer = await startServer([CHANNEL_PEER], {})
    const free = await startPaid(file('free'), { ASSAY_FREE_DAILY: '1000000000' })
    const assay = await startPaid(file('paid'), { ASSAY_BATCH_SETTLEMENT: 'on' })
    try {
      const payers = await newPayers(CHANNELS)
      const contenders = [
        voucherContender('@x402/hono with its batch-settlement server', peer, payers, file('peer.txt'), PEER_PER_S),
        { name: 'assay, free call', server: free, request: CALL },
        payingContender('assay, scheme exact without the chain', assay, payers, file('exact.txt'), OWN_PER_S),
        voucherContender('assay, voucher', assay, payers, file('vouchers.txt'), OWN_PER_S),
        { ...voucherContender('assay, voucher, one connection', assay, payers, file('alone.txt'), ALONE_PER_S), connections: 1 },
      ] as const
      const standings = await duel(contenders, options)
      assertAllAnswered(standings)
      const samples = await samplesOf(contenders[3], standings[3])
      const verified = assertAnswers(samples, (text) => JSON.parse(text), await publishedKeys(assay.port))
      samples.forEach(assertCharged)
      await assay.stop()
      return report(standings, options, [
        `${verified} answers to vouchers were verified: verdict, receipt, published key, input and output hashes, and that each receipt names the payer and the price of the voucher that was sent.`,
        assertCharges([standings[3], standings[4]], file('paid')),
      ])
    } finally {
      await Promise.all([peer, free, assay].map((server) => server.stop()))
    }
  })
}

function voucherContender(name: string, server: ServerProcess, payers: Payers, file: string, per_s: number): Contender {
  return { name, server, request: CALL, renew: (run_s) => writeVouchers(file, payers, server.port, Math.ceil(run_s * per_s)) }
}

interface ChannelTerms {
  scheme: string
  network: string
  amount: string
  asset: string
  payTo: string
  extra: { receiverAuthorizer: string; withdrawDelay: number }
}

/** Signs vouchers of new channels to the terms of now: each channel in turn, each voucher over one price more than the one before it. */
async function writeVouchers(file: string, { signing, signers }: Payers, port: number, count: number) {
  const { resource, accepts } = await termsOf(port)
  const accepted = (accepts as unknown as ChannelTerms[]).find(({ scheme }) => scheme === 'batch-settlement')
  if (accepted === undefined) throw new Error('no payment channels are offered')
  const { network, amount, asset, payTo, extra } = accepted
  const hashes = createChannelHashes(Number(network.split(':')[1]), signing.crypto)
  const salt = `0x${randomBytes(32).toString('hex')}`
  const terms = JSON.stringify({ x402Version: 2, resource, accepted }).slice(0, -1)
  const channels = signers.map((signer) => {
    const payer = signer.address
    const parties = { receiver: payTo, receiverAuthorizer: extra.receiverAuthorizer, token: asset }
    const channelConfig = { payer, payerAuthorizer: payer, ...parties, withdrawDelay: extra.withdrawDelay, salt }
    const addresses = { receiver: payTo, receiver_authorizer: extra.receiverAuthorizer, token: asset }
    const lower = Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, address.toLowerCase()])) as typeof addresses
    const id = hashes.channelId({ payer, payer_authorizer: payer, ...lower, withdraw_delay_s: extra.withdrawDelay, salt })
    return { signer, id, head: `${terms},"payload":${JSON.stringify({ type: 'voucher', channelConfig }).slice(0, -1)}` }
  })
  const lines = Array.from({ length: count }, (_, number) => {
    const channel = channels[number % channels.length]
    if (channel === undefined) throw new Error('there is no channel')
    const total = BigInt(amount) * BigInt(Math.floor(number / channels.length) + 1)
    const signature = channel.signer.sign(hashes.voucher(channel.id, total))
    const voucher = { channelId: channel.id, maxClaimableAmount: String(total), signature }
    return Buffer.from(`${channel.head},"voucher":${JSON.stringify(voucher)}}}`).toString('base64')
  })
  writeFileSync(file, lines.join('\n'))
  return { header: PAYMENT_HEADER, file }
}

function assertCharged({ carried, answer }: Sample): void {
  const { accepted, payload } = JSON.parse(Buffer.from(carried ?? '', 'base64').toString()) as {
    accepted: ChannelTerms
    payload: { channelConfig: { payer: string } }
  }
  const { receipt, tier, settlement } = JSON.parse(answer) as {
    receipt: Record<string, unknown>
    tier: unknown
    settlement: { method: unknown; amount_minor: unknown }
  }
  const found = [tier, receipt['payer'], receipt['amount'], settlement.method, settlement.amount_minor]
  if (found.join(' ') !== ['paid', payload.channelConfig.payer, accepted.amount, 'channel', accepted.amount].join(' '))
    throw new Error(`An answer is not that of the voucher that was sent: ${answer.slice(0, 800)}`)
}

/** Throws unless the store holds one charge with its answer for each voucher that was answered, and each channel adds up. */
function assertCharges(standings: readonly Standing[], folder: string): string {
  const answered = standings.flatMap(({ runs }) => runs).reduce((sum, { answers_ever }) => sum + (answers_ever ?? Number.NaN), 0)
  const database = new DatabaseSync(join(folder, 'assay.sqlite'), { readOnly: true })
  const count = (sql: string) => Number(database.prepare(sql).get()?.['found'])
  try {
    const charges = count(
      "select count(*) as found from payment p join payment_answer a on a.payment = p.number where p.method = 'channel' and p.state = 'settled'",
    )
    const wrong = count(
      `select count(*) as found from channel c
       where c.charged_minor <> (select coalesce(sum(p.value_minor), 0) from payment p where p.payer = c.payer and p.settler = c.channel_id)`,
    )
    if (charges !== answered || wrong > 0)
      throw new Error(`${answered} vouchers were answered, the store holds ${charges} charges, and ${wrong} channels do not add up.`)
    return `The store, opened after the stop, holds ${charges} charges with their sealed answers, as many as were answered; every channel adds up.`
  } finally {
    database.close()
  }
}

function report(standings: Five, options: RunOptions, notes: string[]): SuiteReport {
  const [peer, free, exact, voucher, alone] = standings
  const cost = cpuRatio([voucher, free])
  return {
    title: 'Call paid by a voucher, against a free call and the batch-settlement server of x402 on hono',
    method: [
      duelMethod(options),
      `All calls of the service go to \`paid-server.ts\`, whose chain is a stub. A voucher: channel id and digest, recovery of its signer, mirrored state, charge with sealed answer, payment row and sale in one conditional write to SQLite with synchronous FULL, receipt signed. ${CHANNELS} channels in each run, used in turn; every voucher is signed just before its run and sent once.`,
      'Peer: @x402/hono 2.27.0 with BatchSettlementEvmScheme of @x402/evm 2.27.0 before a handler that checks an IBAN in six lines. Its channels are in memory, its facilitator is an object that is asked at the first voucher of a channel. It stores no answer and signs no receipt.',
    ],
    header: DUEL_HEADER,
    rows: duelRows(standings),
    gates: [
      atLeast('answers/s, ratio to the batch-settlement server of x402', answersRatio([peer, voucher]), 4),
      atLeast('CPU per call, ratio to the batch-settlement server of x402', cpuRatio([peer, voucher]), 4),
      atMost('CPU of a voucher call, ratio to a free call', cost, 1.3, 'x'),
      atMost('p50 of a voucher call, one connection', alone.p50_ms, 5, ' ms'),
    ],
    notes: [
      ...notes,
      `CPU per call of the scheme exact, ratio to a voucher: ${cpuRatio([exact, voucher])?.toFixed(2) ?? '–'}.`,
      ...limitNotes(standings),
    ],
  }
}
