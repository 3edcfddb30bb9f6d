/**
 * Rebuilds data/upi-handles.json from NPCI's tables of UPI live members and of third-party apps and from other public lists, copied to
 * tab-separated lines: handle, status (known; legacy for redirected and retired ones and those of merged banks; withdrawn for those of
 * closed banks), psp (bank; empty where no source names it), app (may be empty), source (a name of SOURCES below).
 *
 *   node scripts/refresh-upi-handles.ts --source <path or URL> --version <text> (--published | --compiled) <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

/** Lists that name the handles, each with its date. */
const SOURCES = {
  npci_2026: 'NPCI, register of UPI third-party apps, as read on 2026-07-24 and quoted in a public design note',
  npci_2025: 'NPCI, list of UPI third-party apps of 2025, as public payment software copies it',
  rbi_2020: 'RBI notification of 2020-09-03: ceased to be a banking company on 2020-07-28',
  rbi_2024: 'RBI press release of 2024-02-16: no credits to its wallets after 2024-03-15',
  razorpay_2026: 'Razorpay Checkout, table of UPI apps and their handles, build of 2026',
  whatsapp_2025: 'WhatsApp for Android, UPI handles recognised in messages, build of 2025',
  cashfree_2026: 'Report tool over payments processed by Cashfree, map of handles to apps and banks, 2026',
  recon_2024: 'upi-recon and upi-recon-cli, lists of handles of banks and apps, 2020 to 2024',
  sebi_2025: 'SEBI circular 2025/86 of 2025-06-11, and handles published by intermediaries since 2025-10-01',
  merchant_qr_2026: 'Payment addresses that merchants publish, seen in public code up to 2026',
}

await refreshTabTable({
  path: new URL('../data/upi-handles.json', import.meta.url),
  head: {
    schema: 'assay/upi-handles/2',
    source: 'NPCI registers as quoted in public, RBI and SEBI notices, and handle tables of payment software; row by row in "source"',
    notes:
      "Partial: NPCI's own register was not at hand. legacy: redirected as @paytm was to YES Bank in 2024, retired, or of a merged bank. withdrawn: of a bank that closed. psp null: no source names the bank. valid*: for intermediaries of SEBI since 2025-10-01; only those seen in use are listed.",
    sources: SOURCES,
  },
  columns: {
    handle: /^[a-z][a-z0-9]{1,63}$/,
    status: /^(known|legacy|withdrawn)$/,
    psp: /^(\S.{1,79})?$/,
    app: /^.{0,60}$/,
    source: new RegExp(`^(${Object.keys(SOURCES).join('|')})$`),
  },
  key: ['handle'],
  rows: [200, 1_500],
  sentinels: [
    'okaxis|known|Axis Bank|Google Pay|npci_2026',
    'ptsbi|known|State Bank of India|Paytm|npci_2026',
    'ptyes|known|YES Bank|Paytm|npci_2026',
    'paytm|legacy|YES Bank|Paytm|npci_2026',
    'birla|withdrawn|Aditya Birla Idea Payments Bank||rbi_2020',
    'validhdfc|known|HDFC Bank||sebi_2025',
  ],
})
