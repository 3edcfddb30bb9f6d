import { z } from 'zod'
import { isSigningKind, signingKindDocument } from '../pure/signing/kinds.ts'
import { SIGNING_KINDS } from '../pure/signing/sign-request.ts'
import { problem } from '../service/problems.ts'
import type { AppDeps } from './deps.ts'
import { anyObject, endpointsOf } from './endpoint.ts'
import { jsonReply } from './http/reply.ts'

/** The kinds with their titles. */
function signingKindList(origin: string) {
  return Object.entries(SIGNING_KINDS).map(([kind, { title, signer, contract_wallets }]) => {
    return { kind, title, signer, contract_wallets, url: `${origin}/v1/signing/${kind}` }
  })
}

const defineEndpoint = endpointsOf<Pick<AppDeps, 'origins'>>()

/** A document changes only with a release. */
const CACHED = { 'cache-control': 'public, max-age=300' }

const TITLE = z.string().describe('Purpose of the signature.')
const SIGNER = z.string().describe('Party that signs.')
const CONTRACT_WALLETS = z.boolean().describe('Contract wallets may sign; they are asked on the chain (ERC-1271).')

const list = defineEndpoint({
  id: 'list-signing-kinds',
  method: 'get',
  path: '/v1/signing',
  summary: 'Everything that anyone signs for this service, by kind.',
  description:
    'Answers and problems that ask for a signature carry `sign`: kind, method of the wallet, typed data or exact text, and the request that takes ' +
    'the signature. The 402 of a tool call carries the terms of x402 instead, from which the wallet signs the payment.',
  answers: {
    200: {
      description: 'The kinds.',
      json: z.looseObject({
        count: z.int().describe('Number of kinds.'),
        kinds: z
          .array(
            z.looseObject({
              kind: z.string().describe('Id of the kind.'),
              title: TITLE,
              signer: SIGNER,
              contract_wallets: CONTRACT_WALLETS,
              url: z.string().describe('Its document.'),
            }),
          )
          .describe('The kinds.'),
      }),
    },
  },
  run(_, { origins }) {
    const kinds = signingKindList(origins.api_url)
    return jsonReply(200, JSON.stringify({ count: kinds.length, kinds }), CACHED)
  },
})

const read = defineEndpoint({
  id: 'read-signing-kind',
  method: 'get',
  path: '/v1/signing/{kind}',
  summary: 'One kind of signature: JSON Schema, an example and a test vector.',
  parts: {
    kind: z
      .string()
      .max(64)
      .meta({ example: 'invoice-issue' })
      .describe(`One of ${Object.keys(SIGNING_KINDS).join(', ')}.`),
  },
  answers: {
    200: {
      description: 'The kind.',
      json: z.looseObject({
        kind: z.string().describe('Id of the kind.'),
        title: TITLE,
        signer: SIGNER,
        contract_wallets: CONTRACT_WALLETS,
        page: z.string().describe('Page that explains the act.'),
        schema: anyObject('JSON Schema of method and typed data, or of method and text.'),
        example: anyObject('A `sign` as answers and problems carry it.'),
        test_vector: anyObject('Private key, signer, digest and signature of the example.'),
      }),
    },
  },
  problems: ['NOT_FOUND'],
  run({ parts }, { origins }) {
    if (!isSigningKind(parts.kind)) {
      return problem('NOT_FOUND', `No signature has this kind. The kinds are ${Object.keys(SIGNING_KINDS).join(', ')}.`)
    }
    return jsonReply(200, JSON.stringify(signingKindDocument(parts.kind, origins.api_url)), CACHED)
  },
})

/** Kinds of signatures, for wallets and devices. */
export const SIGNING_ENDPOINTS = [list, read]
