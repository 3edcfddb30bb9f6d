import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { painMessage, swap } from '../support/iso20022-messages.ts'
import { fileLines, PPD } from '../documents/nacha-files.ts'
import { openDesk, parsed, type Desk } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

const GOOD = painMessage()
const BAD = swap(GOOD, '<NbOfTxs>2</NbOfTxs>', '<NbOfTxs>3</NbOfTxs>')

test('a valid message ends with 0, an invalid one with 1, another format with 3; one JSON line per file', async () => {
  const good = await desk.file('good.xml', GOOD)
  const bad = await desk.file('bad.xml', BAD)
  const csv = await desk.file('list.csv', 'Date;Amount;Text\n2026-01-01;1,00;a\n')
  const [one, several, other] = await Promise.all([
    desk.run(['validate', good]),
    desk.run(['validate', good, bad, csv]),
    desk.run(['validate', good, csv]),
  ])
  assert.deepEqual([one.code, parsed(one.stdout)['verdict'], parsed(one.stdout)['message_type']], [0, 'valid', 'pain.001'])
  assert.equal(several.code, 1)
  const verdicts = several.stdout
    .trim()
    .split('\n')
    .map((line) => parsed(line)['verdict'])
  assert.deepEqual(verdicts, ['valid', 'invalid', 'undetermined'])
  assert.equal(other.code, 3)
  assert.match(other.stdout, /text in columns/)
})

test('gzip, standard input and the encodings of banks are read', async () => {
  const packed = await desk.file('good.xml.gz', gzipSync(GOOD))
  const umlaut = GOOD.replace('Creditor 1', 'M\u00fcller').replace('encoding="UTF-8"', 'encoding="ISO-8859-1"')
  const latin = await desk.file('latin.xml', Buffer.from(umlaut, 'latin1'))
  const wide = await desk.file('wide.xml', Buffer.from(`\ufeff${umlaut.replace('ISO-8859-1', 'UTF-16')}`, 'utf16le'))
  for (const file of [packed, latin, wide]) {
    const { code, stdout } = await desk.run(['validate', file])
    assert.equal(code, 0, stdout)
  }
  assert.equal((await desk.run(['validate', '-'], { input: BAD })).code, 1)
})

test('people read code, line, path and values; SARIF has the place of each finding', async () => {
  const bad = await desk.file('bad.xml', BAD)
  const text = await desk.run(['validate', '--text', bad])
  for (const words of ['invalid', 'P_NBTX_GROUP', 'GrpHdr/NbOfTxs', 'found 3, expected 2', '1 invalid'])
    assert.ok(text.stdout.includes(words), words)
  const sarif = await desk.run(['validate', '--sarif', bad])
  const log = parsed(sarif.stdout) as { version: string; runs: { results: { ruleId: string; level: string }[] }[] }
  assert.equal(log.version, '2.1.0')
  assert.ok(log.runs[0]?.results.some(({ ruleId, level }) => ruleId === 'P_NBTX_GROUP' && level === 'error'))
})

test('ACH files are judged by the same command', async () => {
  const file = await desk.file('payroll.ach', fileLines([PPD]).join('\n'))
  const { code, stdout } = await desk.run(['validate', file])
  assert.deepEqual([code, parsed(stdout)['format'], parsed(stdout)['verdict']], [0, 'ach', 'valid'])
})

test('what cannot be read is said', async () => {
  assert.equal((await desk.run(['validate'])).code, 2)
  assert.equal((await desk.run(['validate', '/nowhere/at/all.xml'])).code, 66)
  assert.equal((await desk.run(['validate', '-', '--profile', 'SEPPA'])).code, 2)
})
