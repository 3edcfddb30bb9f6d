/** The libraries that the checks, hashes, documents and schemas of the service are compared with, each as its own documentation uses it. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import canonicalize from 'canonicalize'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { isValidBIC, isValidIBAN } from 'ibantools'
import { XmlDocument } from 'libxml2-wasm'
import { stdnum } from 'stdnum'
import validator from 'validator'
import { verifyTypedData } from 'viem'
import { TRANSFER_TYPES } from './x402-facilitator.ts'

export const ibantools = { iban: isValidIBAN, bic: isValidBIC }

export const validatorJs = {
  iban: (text: string) => validator.isIBAN(text),
  bic: (text: string) => validator.isBIC(text),
  isin: (text: string) => validator.isISIN(text),
}

export const national = {
  vatBelgium: (text: string) => stdnum.BE.vat.validate(text).isValid,
  abn: (text: string) => stdnum.AU.abn.validate(text).isValid,
}

export const canonical = (value: unknown) => canonicalize(value) ?? ''

/** Digest, recovery and comparison, as a facilitator does them. */
export function verifyTransfer(domain: object, message: object, from: string, signature: string): Promise<boolean> {
  return verifyTypedData({
    address: from,
    domain,
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
    signature,
  } as never)
}

const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false, processEntities: false })

/** Builds objects; does not ask whether the document is well-formed. */
export const fastXmlObjects = (text: string): object => parser.parse(text)

/** Asks whether it is, and builds nothing. */
export const fastXmlValid = (text: string): boolean => XMLValidator.validate(text) === true

/** Parses into a tree in WebAssembly, and lets it go. */
export function libxml2Tree(bytes: Uint8Array): boolean {
  const document = XmlDocument.fromBuffer(bytes)
  const found = document.root !== null
  document.dispose()
  return found
}

const OPTIONS = { strict: false, validateFormats: false, allErrors: true, logger: false } as const

/** Makes code of a schema. A new instance each time, since it keeps what it has compiled. */
export function compiled(schema: object): (data: unknown) => boolean {
  return new Ajv2020(OPTIONS).compile(schema) as (data: unknown) => boolean
}
