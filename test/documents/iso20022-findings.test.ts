/** Findings name the element that is wrong, and what would be right in its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateMessage } from '../../src/pure/documents/iso20022/validate.ts'
import { painMessage, swap } from '../support/iso20022-messages.ts'

function structureOf(payload: string): string[] {
  const { findings } = validateMessage({ payload, profile: 'base' })
  const structural = findings.filter(({ code }) => code.startsWith('STRUCT_') || code === 'ELEMENT_REPEATED')
  return structural.map(({ code, path, found, expected }) => `${code} ${path.slice(path.lastIndexOf('/') + 1)}: ${found} → ${expected}`)
}

const moved = (message: string, element: string, before: string) => swap(message.replace(element, ''), before, element + before)
const GOOD = painMessage()
const CHARGE_BEARER = '<ChrgBr>SLEV</ChrgBr>'
const METHOD = '<PmtMtd>TRF</PmtMtd>'

test('one misplaced element makes one finding, whichever way it was moved', () => {
  const early = moved(GOOD, CHARGE_BEARER, '<BtchBookg>true')
  assert.deepEqual(structureOf(early), ['STRUCT_ORDER ChrgBr: ChrgBr → one of BtchBookg, NbOfTxs, CtrlSum, PmtTpInf, ReqdExctnDt'])
  const late = moved(GOOD, METHOD, '<DbtrAcct>')
  assert.deepEqual(structureOf(late), ['STRUCT_ORDER PmtMtd: PmtMtd → DbtrAcct'])
  const last = swap(GOOD.replace(CHARGE_BEARER, ''), '</PmtInf>', `${CHARGE_BEARER}</PmtInf>`)
  assert.deepEqual(structureOf(last), ['STRUCT_ORDER ChrgBr: ChrgBr → no further element'])
  const swapped = swap(swap(GOOD, '<Dbtr><Nm>Payer</Nm></Dbtr>\n', ''), '<DbtrAgt>', '<Dbtr><Nm>Payer</Nm></Dbtr><DbtrAgt>')
  assert.deepEqual(structureOf(swapped), ['STRUCT_ORDER Dbtr: Dbtr → DbtrAgt'])
})

test('the finding has the line of the misplaced element', () => {
  const early = moved(GOOD, `${CHARGE_BEARER}\n`, '<ReqdExctnDt>')
  const { findings } = validateMessage({ payload: early, profile: 'base' })
  const found = findings.find(({ code }) => code === 'STRUCT_ORDER')
  assert.equal(found?.line, early.slice(0, early.indexOf(CHARGE_BEARER)).split('\n').length)
})

test('an unknown element: the name that is meant, or what is allowed', () => {
  const cases: [string, string, string][] = [
    ['BICFI', 'BIC', 'STRUCT_UNEXPECTED FinInstnId: BIC → BICFI'],
    ['EndToEndId', 'EndToEndID', 'STRUCT_UNEXPECTED PmtId: EndToEndID → EndToEndId'],
    ['CtrlSum', 'CtrlSumm', 'STRUCT_UNEXPECTED GrpHdr: CtrlSumm → CtrlSum'],
    ['BtchBookg', 'Foo', 'STRUCT_UNEXPECTED PmtInf[1]: Foo → one of BtchBookg, NbOfTxs, CtrlSum, PmtTpInf, ReqdExctnDt'],
  ]
  for (const [name, wrong, finding] of cases) {
    const renamed = swap(swap(GOOD, `<${name}>`, `<${wrong}>`), `</${name}>`, `</${wrong}>`)
    assert.ok(structureOf(renamed).includes(finding), structureOf(renamed).join('\n'))
  }
})
