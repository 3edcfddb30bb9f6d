/** The look of the report: paper and ink on a screen, black on white in print, where tables keep their head and rows stay whole. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--paper:#faf8f3;--ink:#1b1d21;--muted:#5a5f66;--rule:#ddd8cc;--valid:#17693e;--unsure:#7a5a00;--invalid:#a3261b}
@media (prefers-color-scheme:dark){:root{--paper:#111315;--ink:#ece9e2;--muted:#a3a7ad;--rule:#30343a;--valid:#63c98f;--unsure:#e0b84a;--invalid:#f0857a}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 ui-sans-serif,system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:32px 16px}
h1{font-size:28px;margin:0 0 8px}
h2{font-size:20px;margin:32px 0 8px}
small{color:var(--muted);font-weight:400}
.lead{font-size:16px;margin:0 0 16px}
.counts{list-style:none;display:flex;flex-wrap:wrap;gap:8px 24px;margin:0;padding:12px 0;border-block:1px solid var(--rule)}
.settled>span,h2.settled{color:var(--valid)}
.unpaid>span,h2.unpaid{color:var(--invalid)}
.duplicate_payment>span,h2.duplicate_payment{color:var(--invalid)}
.amount_mismatch>span,h2.amount_mismatch{color:var(--unsure)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid var(--rule)}
th{color:var(--muted);font-weight:500;white-space:nowrap}
.n{text-align:right;font-family:ui-monospace,Menlo,Consolas,monospace;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font-family:ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.note,footer{color:var(--muted)}
footer{margin-top:32px;padding-top:8px;border-top:1px solid var(--rule)}
@media print{
:root{--paper:#fff;--ink:#000;--muted:#444;--rule:#999;--valid:#000;--unsure:#000;--invalid:#000;color-scheme:light}
@page{margin:15mm}
body{font-size:9pt}
main{max-width:none;padding:0}
.wide{overflow:visible}
thead{display:table-header-group}
tr,li{break-inside:avoid}
h2{break-after:avoid}
}
`
