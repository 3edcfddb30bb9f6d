import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, beforeEach, test } from 'node:test'
import { choosePrices, samplePrices, coinbase, coingecko, kraken, publicPrices } from '../../src/adapters/prices/choose.ts'
import type { Prices, Spot } from '../../src/ports/prices.ts'
import { answers, startPriceServer, type PriceManner, type PriceServer } from '../support/price-server.ts'
import { clockAt } from '../support/clock-at.ts'

let first: PriceServer
let second: PriceServer
let third: PriceServer
let now_ms = Date.UTC(2026, 10, 21, 12)
const clock = clockAt(() => now_ms)

before(async () => {
  ;[first, second, third] = await Promise.all([startPriceServer(), startPriceServer(), startPriceServer()])
})
after(() => Promise.all([first, second, third].map((server) => server.stop())))
beforeEach(() => {
  for (const server of [first, second, third]) server.asked.length = 0
  first.manner = coinbaseSays('"64000.00"')
  second.manner = krakenSays('"64100.10000"')
  third.manner = geckoSays('64050.5')
})

const coinbaseSays = (amount: string, currency = 'USD', base = 'BTC') =>
  answers(`{"data":{"amount":${amount},"base":"${base}","currency":"${currency}"}}`)
const krakenSays = (last: string, pair = 'XXBTZUSD', error = '[]') =>
  answers(`{"error":${error},"result":{"${pair}":{"a":["1","1","1"],"c":[${last},"0.01"]}}}`)
const geckoSays =
  (usd: string, age_s = 10, id = 'bitcoin') =>
  (...exchange: Parameters<PriceManner>) =>
    answers(`{"${id}":{"usd":${usd},"last_updated_at":${now_ms / 1_000 - age_s}}}`)(...exchange)

const asking = (): Prices => publicPrices({ clock, sources: [coinbase(first.url), kraken(second.url), coingecko(third.url)] })

/** The price, or why there is none. */
const word = (spot: Spot) => (spot.kind === 'priced' ? spot.price_usd : spot.reason)
const bitcoin = async (prices: Prices = asking()) => word(await prices.spot('bitcoin'))

test('two sources: their exact mean, each in its own words; the third is spared', async () => {
  const spot = await asking().spot('bitcoin')
  assert.deepEqual(spot, {
    kind: 'priced',
    price_usd: '64050.05',
    as_of_ms: now_ms,
    quotes: [
      { name: 'coinbase', price_usd: '64000.00', as_of_ms: now_ms },
      { name: 'kraken', price_usd: '64100.10000', as_of_ms: now_ms },
    ],
    cached: false,
  })
  assert.deepEqual([first.asked, second.asked, third.asked], [['/v2/prices/BTC-USD/spot'], ['/0/public/Ticker?pair=XXBTZUSD'], []])
})

test('a source that fails, whatever it does, is stood in for by the third', async () => {
  const failing: [string, PriceManner][] = [
    ['500', answers('{"data":{"amount":"64000","base":"BTC","currency":"USD"}}', 500)],
    ['429', answers('slow down', 429)],
    ['404', answers('{}', 404)],
    ['redirect', (_request, response) => void response.writeHead(302, { location: `${second.url}/stolen` }).end()],
    ['page', answers('<!doctype html><title>Just a moment</title>')],
    ['cut off', answers('{"data":{"amount":"64000","base":"BTC","cur')],
    ['reset', (request) => void request.socket.destroy()],
    [
      'half a body',
      (_request, response) => void response.writeHead(200, { 'content-length': '900' }).write('{"data":', () => response.destroy()),
    ],
    ['empty', answers('')],
    ['null', answers('null')],
    ['list', answers('[]')],
    ['other currency', coinbaseSays('"64000"', 'EUR')],
    ['a name that is no text', answers('{"data":{"amount":"64000","base":{"toString":1,"valueOf":1},"currency":"USD"}}')],
    ['other asset', coinbaseSays('"64000"', 'USD', 'ETH')],
    ...['"0"', '"0.00"', '"-64000"', '"NaN"', '"Infinity"', '"64,000"', '" 64000"', '""', 'null', 'true', '{}', `"${'9'.repeat(50)}"`].map(
      (amount): [string, PriceManner] => [amount, coinbaseSays(amount)],
    ),
  ]
  for (const [name, manner] of failing) {
    first.manner = manner
    assert.equal(await bitcoin(), '64075.3', name)
  }
  assert.ok(!second.asked.includes('/stolen'))
})

test('what Kraken and CoinGecko answer is held against the question too', async () => {
  first.manner = answers('', 500)
  const krakens = [
    krakenSays('"64000"', 'XETHZUSD'),
    krakenSays('"64000"', 'XXBTZUSD', '["EService:Unavailable"]'),
    answers('{"error":[]}'),
  ]
  for (const manner of krakens) {
    second.manner = manner
    assert.equal(await bitcoin(), 'too_few_sources')
  }
  second.manner = krakenSays('"64100.1"')
  const geckos = [geckoSays('64000', 10, 'ethereum'), geckoSays('"x"'), geckoSays('0'), answers('{"bitcoin":{"usd":64000}}'), answers('{}')]
  for (const manner of [
    ...geckos,
    geckoSays('64000', 60),
    geckoSays('64000', -11),
    answers('{"bitcoin":{"usd":64000,"last_updated_at":1e9}}'),
  ]) {
    third.manner = manner
    assert.equal(await bitcoin(), 'too_few_sources')
  }
  third.manner = geckoSays('64000', 59)
  assert.equal(await bitcoin(), '64050.05')
})

test('numbers keep the digits that they were written with', async () => {
  first.manner = answers('{}')
  second.manner = krakenSays('"0.000010760000000000001"', 'SHIBUSD')
  third.manner = geckoSays('1.0760000000000000000003e-05', 5, 'shiba-inu')
  const spot = await asking().spot('shiba-inu')
  assert.ok(spot.kind === 'priced')
  assert.deepEqual(
    spot.quotes.map(({ price_usd }) => price_usd),
    ['0.000010760000000000001', '1.0760000000000000000003e-05'],
  )
  assert.equal(spot.price_usd, '0.0000107600000000000005000015')
  assert.equal(spot.as_of_ms, now_ms - 5_000)
})

test('beyond one percent of difference there is no price', async () => {
  second.manner = krakenSays('"64640.00"')
  assert.equal(await bitcoin(), '64320')
  second.manner = krakenSays('"64640.01"')
  assert.equal(await bitcoin(), 'sources_disagree')
  second.manner = krakenSays('"640000"')
  assert.equal(await bitcoin(), 'sources_disagree')
  assert.equal(third.asked.length, 0)
})

test('one source is not enough, nor none', async () => {
  second.manner = answers('', 503)
  third.manner = answers('', 429)
  assert.equal(await bitcoin(), 'too_few_sources')
  first.manner = answers('', 503)
  assert.equal(await bitcoin(), 'too_few_sources')
  const gone = await startPriceServer()
  await gone.stop()
  assert.equal(await bitcoin(publicPrices({ clock, sources: [coinbase(gone.url), kraken(gone.url)] })), 'too_few_sources')
})

test('one that hangs, before its head or within its body, is given up; one without end is cut off', async () => {
  let closed: Promise<unknown> = Promise.resolve()
  const endless: PriceManner = (_request, response) => {
    closed = once(response, 'close')
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536))) continue
    }
    response.writeHead(200).on('drain', more)
    more()
  }
  first.manner = endless
  assert.equal(await bitcoin(), '64075.3')
  await closed
  first.manner = () => undefined
  second.manner = (_request, response) => void response.writeHead(200).write('{"error":')
  assert.equal(await bitcoin(), 'too_few_sources')
})

test('a price is kept until it is a minute old, and fetched once for all who ask', async () => {
  const prices = asking()
  const [one, other] = await Promise.all([prices.spot('bitcoin'), prices.spot('bitcoin')])
  assert.deepEqual(one, other)
  assert.equal(first.asked.length, 1)
  now_ms += 59_999
  assert.deepEqual(await prices.spot('bitcoin'), { ...one, cached: true })
  now_ms += 1
  const fresh = await prices.spot('bitcoin')
  assert.ok(fresh.kind === 'priced' && !fresh.cached && fresh.as_of_ms === now_ms)
  assert.equal(first.asked.length, 2)
})

test('a price counts from its oldest quote', async () => {
  const prices = asking()
  first.manner = answers('', 404)
  third.manner = geckoSays('64000', 50)
  const cached = async () => {
    const spot = await prices.spot('bitcoin')
    return spot.kind === 'priced' && spot.cached
  }
  assert.equal(await cached(), false)
  now_ms += 9_999
  assert.equal(await cached(), true)
  now_ms += 1
  assert.equal(await cached(), false)
})

test('a question without a price is not asked again at once', async () => {
  const prices = asking()
  second.manner = krakenSays('"1"')
  assert.equal(await bitcoin(prices), 'sources_disagree')
  second.manner = krakenSays('"64000"')
  assert.equal(await bitcoin(prices), 'sources_disagree')
  assert.equal(first.asked.length, 1)
  now_ms += 5_000
  assert.equal(await bitcoin(prices), '64000')
})

test('a source that fails three times in a row, or asks for it once, is left alone for a while', async () => {
  const prices = asking()
  first.manner = answers('', 500)
  for (let failure = 1; failure <= 3; failure++) {
    now_ms += 60_000
    assert.equal(await bitcoin(prices), '64075.3')
  }
  assert.equal(first.asked.length, 3)
  assert.equal(await prices.ready(), true)
  now_ms += 29_999
  await prices.spot('ethereum')
  assert.equal(first.asked.length, 3)
  now_ms += 1
  first.manner = coinbaseSays('"64000"', 'USD', 'SOL')
  second.manner = answers('', 429)
  await prices.spot('solana')
  assert.equal(first.asked.length, 4)
  const asked = second.asked.length
  now_ms += 59_999
  await prices.spot('litecoin')
  assert.equal(second.asked.length, asked)
  now_ms += 1
  await prices.spot('polkadot')
  assert.equal(second.asked.length, asked + 1)
})

test('Kraken asks to be left alone with status 200, and is', async () => {
  const prices = asking()
  // docs.kraken.com, API errors.
  for (const fault of ['EAPI:Rate limit exceeded', 'EGeneral:Too many requests', 'EService:Throttled: 1795521600']) {
    now_ms += 60_000
    second.manner = answers(`{"error":["${fault}"]}`)
    third.manner = geckoSays('64050.5')
    assert.equal(await bitcoin(prices), '64025.25', fault)
    const asked = second.asked.length
    now_ms += 59_999
    await prices.spot('litecoin')
    assert.equal(second.asked.length, asked, fault)
    now_ms += 1
    await prices.spot('polkadot')
    assert.equal(second.asked.length, asked + 1, fault)
  }
})

test('what is not in the table is never asked, and an unknown pair does no harm to a source', async () => {
  const prices = asking()
  for (const id of ['', 'no-such-coin', '../../etc/passwd', 'bitcoin,ethereum', '__proto__']) {
    assert.equal(word(await prices.spot(id)), 'too_few_sources')
  }
  assert.equal(first.asked.length + second.asked.length + third.asked.length, 0)
  first.manner = answers('{"errors":[{"id":"not_found"}]}', 404)
  second.manner = krakenSays('"1"', 'OTHER', '["EQuery:Unknown asset pair"]')
  for (const id of ['solana', 'cardano', 'polkadot', 'litecoin']) await prices.spot(id)
  assert.equal(await prices.ready(), true)
})

test('enough sources must be in service to be ready', async () => {
  const prices = asking()
  for (const server of [first, second]) server.manner = answers('', 429)
  await prices.spot('bitcoin')
  assert.equal(await prices.ready(), false)
  now_ms += 60_000
  assert.equal(await prices.ready(), true)
})

test('samples in a sandbox, public interfaces in a live deployment', async () => {
  assert.equal(choosePrices('live', clock).source, 'public_api')
  const samples = choosePrices('sandbox', clock)
  assert.equal(samples.source, 'fixed_sample')
  assert.equal(await samples.ready(), true)
  assert.deepEqual(await samples.spot('bitcoin'), await samplePrices(clock).spot('bitcoin'))
  assert.equal(word(await samples.spot('bitcoin')), '80000')
})
