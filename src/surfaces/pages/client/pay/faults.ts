import { textOf, type Members } from '../shapes.ts'
import type { PayRecord } from './record.ts'
import { plainText } from './wallets.ts'

/** What went wrong in plain words, and what to do next. */
export interface Fault {
  title: string
  happened: string
  next: string
}

const WORDS_CHARS = 160
const NOTHING_MOVED = 'Nothing was signed and nothing moved.'

/** Refusals of wallets by their code (EIP-1193, EIP-1474, EIP-3085). */
export function walletFault(error: unknown, wallet: string): Fault {
  switch (codeOf(error)) {
    case 4001:
      return {
        title: 'You refused in the wallet',
        happened: NOTHING_MOVED,
        next: 'To pay after all, choose the wallet again. The invoice stays open.',
      }
    case 4100:
      return {
        title: 'The wallet does not show this page an account',
        happened: NOTHING_MOVED,
        next: `Unlock ${wallet}, allow this site to see your address, and choose the wallet again.`,
      }
    case 4200:
    case -32_601:
      return {
        title: 'This wallet cannot sign such a payment',
        happened: `${wallet} does not offer eth_signTypedData_v4. ${NOTHING_MOVED}`,
        next: 'Choose another wallet.',
      }
    case 4900:
    case 4901:
      return {
        title: 'The wallet is not connected',
        happened: NOTHING_MOVED,
        next: `Check the network in ${wallet}, then choose it again.`,
      }
    case -32_002:
      return {
        title: 'The wallet waits for you already',
        happened: 'An earlier request is still open in it.',
        next: `Open ${wallet}, answer or close that request, and choose the wallet again.`,
      }
    case null:
    default: {
      const words = plainText(messageOf(error), WORDS_CHARS)
      return {
        title: 'The wallet answered with an error',
        happened: words === '' ? NOTHING_MOVED : `${wallet} says: “${words}” ${NOTHING_MOVED}`,
        next: 'Choose the wallet again, or another one.',
      }
    }
  }
}

/** Errors of wallets may be plain objects from another realm. */
export function codeOf(error: unknown): number | null {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  return typeof code === 'number' ? code : null
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string' ? error.message : ''
}

const NOT_SENT = 'The signed payment was not sent to the chain.'

/** Refusals of the service by the code of the problem, where a payer can be told more than the problem itself says. */
export function serviceFault(problem: Members): Fault {
  const detail = textOf(problem['detail']) ?? ''
  const title = textOf(problem['title']) ?? 'The payment was refused'
  switch (textOf(problem['code'])) {
    case 'INSUFFICIENT_FUNDS':
      return {
        title: 'This account holds too little USDC',
        happened: `${NOT_SENT} ${detail}`,
        next: 'Add USDC to the account on this chain, or choose another account in the wallet, and pay again. No ether is needed.',
      }
    case 'BAD_SIGNATURE':
      return {
        title: 'Another account signed',
        happened: `The signature is not one of the account that the wallet named. ${NOT_SENT}`,
        next: 'Select the account that shall pay in the wallet, then choose the wallet again.',
      }
    case 'EXPIRED':
      return {
        title: 'The signature ran out',
        happened: `It took too long to arrive. ${NOT_SENT}`,
        next: 'Choose the wallet again and sign within a quarter of an hour.',
      }
    case 'INVOICE_NOT_PAYABLE':
      return {
        title: 'The invoice takes no such payment now',
        happened: `${detail} ${NOT_SENT}`,
        next: 'The state above says how it stands.',
      }
    case 'REPLAY':
    case 'NONCE_BOUND':
    case 'PAYMENT_ALREADY_USED':
      return {
        title: 'This signature was used before',
        happened: detail,
        next: 'See under “What has arrived” whether your payment is there before you sign again.',
      }
    case 'SETTLEMENT_FAILED':
      return {
        title: 'The transfer did not go through',
        happened: detail,
        next:
          problem['charged'] === false
            ? 'Nothing moved. Choose the wallet again to sign anew.'
            : 'Wait until then before you sign another one; this page shows a payment that arrives.',
      }
    case 'PAYER_BLOCKED':
      return { title: 'The token refuses this account', happened: `${detail} ${NOT_SENT}`, next: 'Pay from another account.' }
    case 'RECIPIENT_BLOCKED':
      return { title: 'The token refuses the merchant', happened: `${detail} ${NOT_SENT}`, next: 'Ask the merchant for another address.' }
    case 'TOKEN_PAUSED':
      return {
        title: 'The token is paused',
        happened: `${detail} ${NOT_SENT}`,
        next: 'Its issuer has stopped all transfers. Try again later.',
      }
    case 'NOT_CONFIGURED':
    case 'SETTLEMENT_NOT_CONFIGURED':
      return { title: 'No payments are carried here', happened: `${detail} ${NOT_SENT}`, next: 'Ask the merchant how to pay otherwise.' }
    case null:
    default:
      return { title, happened: `${detail} ${NOT_SENT}`, next: waitWords(problem['retryable'] === true) }
  }
}

/** The invoice changed while the payer signed: the state of it says more than the refusal. */
export function overtakenFault({ status, due_minor }: Pick<PayRecord, 'status' | 'due_minor'>): Fault | null {
  switch (status) {
    case 'SETTLED':
      return {
        title: 'Somebody paid first',
        happened: `It was paid while you signed. ${NOT_SENT}`,
        next: 'There is nothing left to do for you.',
      }
    case 'EXPIRED':
      return { title: 'It expired before you signed', happened: NOT_SENT, next: 'Ask the merchant for a new invoice.' }
    case 'VOID':
      return { title: 'The merchant withdrew it meanwhile', happened: NOT_SENT, next: 'Ask the merchant whether there is another invoice.' }
    case 'ISSUED':
    case 'PARTIALLY_PAID':
    case 'PROCESSING':
      return due_minor > 0n
        ? null
        : {
            title: 'Somebody paid first',
            happened: `A payment of the whole is in a block already. ${NOT_SENT}`,
            next: 'Wait until it is confirmed.',
          }
  }
}

/** A refusal of something else than a payment. */
export function requestFault(problem: Members): Fault {
  const next = problem['retryable'] === true ? 'Try again a little later.' : 'Check what you entered.'
  return { title: textOf(problem['title']) ?? 'The request was refused', happened: textOf(problem['detail']) ?? '', next }
}

function waitWords(retryable: boolean): string {
  return retryable ? 'Choose the wallet again a little later.' : 'Choose the wallet again, or another way to pay.'
}

/** What the page itself finds before anything is sent. */
export const PAGE_FAULTS = {
  no_account: {
    title: 'The wallet named no account',
    happened: NOTHING_MOVED,
    next: 'Create or unlock an account in the wallet, then choose the wallet again.',
  },
  merchant_pays: {
    title: 'This account is the merchant',
    happened: `The wallet named the very address that is to be paid. ${NOTHING_MOVED}`,
    next: 'Select the account that shall pay in the wallet, then choose the wallet again.',
  },
  nothing_to_sign: {
    title: 'No signature is taken for this invoice now',
    happened: `Too little is due to be carried to the chain here, or all signatures that name it are used up. ${NOTHING_MOVED}`,
    next: 'Ask the merchant to sign the invoice; then a plain transfer of exactly what is due is matched to it.',
  },
  no_signature: {
    title: 'What came back is no signature',
    happened: 'The wallet answered with something else. Nothing was sent.',
    next: 'Choose the wallet again, or another one.',
  },
  ran_out: {
    title: 'The signature ran out before an answer came',
    happened: 'It can move nothing any more. Unless your payment stands under “What has arrived”, nothing was paid.',
    next: 'You may sign again now.',
  },
} as const satisfies Record<string, Fault>

/** The wallet stands on another chain and did not change to the one of the invoice. */
export function chainFault(wallet: string, chain: string, chain_id: number, unknown: boolean): Fault {
  return {
    title: 'The wallet is on another chain',
    happened: `This invoice is paid on ${chain} (chain ${chain_id}). ${unknown ? `${wallet} does not know it yet. ` : ''}${NOTHING_MOVED}`,
    next: `${unknown ? 'Add' : 'Select'} ${chain} in ${wallet}, then choose the wallet again.`,
  }
}
