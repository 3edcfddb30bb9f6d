/**
 * Rebuilds data/upi-handles.json from NPCI's tables of UPI live members and of third-party apps, copied to tab-separated lines:
 * handle, status (known, or legacy for merged, closed and redirected ones), psp, app (may be empty).
 *
 *   node scripts/refresh-upi-handles.ts --source <path or URL> --version <text> --published <date> --retrieved <date>
 */
import { refreshTabTable } from './support/tab-table.ts'

await refreshTabTable({
  path: new URL('../data/upi-handles.json', import.meta.url),
  head: {
    schema: 'assay/upi-handles/1',
    source: 'NPCI: UPI live members and third-party apps; SEBI: circular 2025/86 on validated handles',
    notes: 'legacy: of a merged or closed bank, or redirected as @paytm was to YES Bank in 2024. valid*: for intermediaries of SEBI.',
  },
  columns: { handle: /^[a-z][a-z0-9]{1,63}$/, status: /^(known|legacy)$/, psp: /^\S.{1,79}$/, app: /^.{0,60}$/ },
  key: ['handle'],
  rows: [100, 1_500],
  sentinels: [
    'okaxis|known|Axis Bank|Google Pay',
    'ptsbi|known|State Bank of India|Paytm',
    'ptyes|known|YES Bank|Paytm',
    'paytm|legacy|YES Bank|Paytm',
    'validhdfc|known|HDFC Bank|',
  ],
})
