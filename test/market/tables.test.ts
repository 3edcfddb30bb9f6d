import assert from 'node:assert/strict'
import { test } from 'node:test'
import { concat, encodeAbiParameters, getContractAddress, keccak256, type Hex } from 'viem'
import { CRYPTO_SYMBOLS, cryptoAsset, nearCryptoSymbols, nearWords } from '../../src/pure/market/crypto-symbols.ts'
import { CURRENCIES, currency, fxSymbol, FX_SYMBOLS, pricedAs } from '../../src/pure/market/fx-tables.ts'
import { coinbase, coingecko, kraken } from '../../src/adapters/prices/choose.ts'
import chainlink from '../../data/chainlink-feeds.json' with { type: 'json' }
import symbols from '../../data/crypto-symbols.json' with { type: 'json' }
import { feedsOf, poolOf, SEQUENCER_FEED } from '../../src/pure/market/usd-prices.ts'

test('symbols: at least sixty, each meaning one asset, each with two sources', () => {
  assert.ok(symbols.rows.length >= 60)
  const spelt = symbols.rows.flatMap(({ ticker, asset_id }) => [...new Set([ticker, ticker.toLowerCase(), asset_id])])
  assert.equal(new Set(spelt).size, spelt.length, 'a symbol stands for two assets')
  assert.deepEqual(new Set(CRYPTO_SYMBOLS), new Set(spelt))
  for (const row of symbols.rows) {
    const asset = cryptoAsset(row.ticker)
    assert.ok(asset !== null && cryptoAsset(row.asset_id) === asset)
    const known = [coinbase(), kraken(), coingecko()].filter((source) => source.path(asset) !== null)
    assert.ok(known.length >= 2, row.ticker)
    for (const source of known) assert.match(source.path(asset) ?? '', /^\/[A-Za-z0-9/?&=._-]+$/)
  }
})

test('unknown symbols: near ones, and none where nothing is near', () => {
  assert.deepEqual(nearCryptoSymbols('BTCC'), ['BTC'])
  assert.ok(nearCryptoSymbols('etherium').includes('ethereum'))
  // The same but for capitals is nearest, then what goes on.
  assert.deepEqual(nearCryptoSymbols('Bitcoin').slice(0, 2), ['bitcoin', 'bitcoin-cash'])
  assert.equal(nearCryptoSymbols('Ethereum')[0], 'ethereum')
  assert.equal(nearCryptoSymbols('Btc')[0], 'BTC')
  assert.deepEqual(nearCryptoSymbols('no such thing'), [])
  assert.deepEqual(nearWords('', ['a']), [])
  assert.deepEqual(nearWords('x'.repeat(1_000), ['x']), [])
  assert.deepEqual(nearWords('EURO', FX_SYMBOLS), ['EUR', 'EURC'])
})

test('every symbol of a rate has its feed, in the form that its contract answers', () => {
  assert.equal(CURRENCIES.length, 14)
  for (const symbol of FX_SYMBOLS) {
    assert.equal(fxSymbol(symbol), symbol)
    assert.equal(fxSymbol(symbol.toLowerCase()), symbol)
    assert.equal(fxSymbol(`${symbol.slice(0, 1)}${symbol.slice(1).toLowerCase()}`), symbol)
    if (symbol === 'USD') continue
    const [feed] = feedsOf(pricedAs(symbol))
    assert.ok(feed !== undefined, symbol)
    assert.equal(feed.market_hours, currency(symbol) !== null)
  }
  for (const other of ['', 'eUR', 'JPY', 'usd ', 'constructor', '__proto__']) assert.equal(fxSymbol(other), null, other)
  const addresses = [...chainlink.rows.map(({ address }) => address), SEQUENCER_FEED]
  assert.equal(new Set(addresses).size, addresses.length)
  for (const address of addresses) assert.match(address, /^0x[0-9a-f]{40}$/)
  for (const row of chainlink.rows) assert.deepEqual([row.decimals, row.description], [8, `${row.symbol} / USD`])
})

test('pools stand where their factories put them', () => {
  const slipstream: Hex = keccak256(
    concat([
      '0x3d602d80600a3d3981f3363d3d373d3d3d363d73',
      '0xeC8E5342B19977B4eF8892e02D8DAEcfa1315831',
      '0x5af43d82803e903d91602b57fd5bf3',
    ]),
  )
  const places = [
    {
      symbol: 'ETH',
      factory: '0x33128a8fC17869897dcE68Ed026d694621f6FDfD',
      code_hash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
      third: 500,
    },
    { symbol: 'EURC', factory: '0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A', code_hash: slipstream, third: 50 },
  ] as const
  for (const { symbol, factory, code_hash, third } of places) {
    const pool = poolOf(symbol)
    assert.ok(pool !== null)
    const types = [{ type: 'address' }, { type: 'address' }, { type: 'uint24' }] as const
    const salt = keccak256(encodeAbiParameters(types, [pool.token0 as Hex, pool.token1 as Hex, third]))
    const address = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecodeHash: code_hash })
    assert.equal(pool.address, address.toLowerCase())
    assert.ok(pool.token0 < pool.token1)
  }
})
