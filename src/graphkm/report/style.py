"""The page's style: dark text on white, on screens and on paper."""

STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 62rem;
  background: #fff; color: #1a1a1a;
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 0.6rem; border-bottom: 2px solid #1f5fa8; }
a { color: #0b4f94; }
a:focus-visible, .wide:focus-visible { outline: 3px solid #b34700; outline-offset: 2px; }
nav ol { columns: 2; padding-left: 1.4rem; margin: 1rem 0; }
dl { margin: 0.5rem 0 1rem; }
dl div { display: flex; gap: 1rem; padding: 0.15rem 0; }
dt { flex: 0 0 16rem; font-weight: 600; }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: 0.75rem 0 1.25rem; }
table { border-collapse: collapse; font-size: 0.92rem; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; }
th, td { padding: 0.25rem 0.7rem 0.25rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #d0d0d0; max-width: 22rem; overflow-wrap: anywhere; }
td { min-width: 4.5rem; }
th, .n { overflow-wrap: normal; min-width: 0; }
thead th { border-bottom: 2px solid #767676; vertical-align: bottom; }
tbody th { font-weight: 500; }
.n { text-align: right; font-variant-numeric: tabular-nums; padding-left: 0.7rem; }
.note { border-left: 4px solid #b34700; padding: 0.2rem 0.8rem; }
.chart { display: block; width: 100%; max-width: 34rem; height: auto; margin: 0.75rem 0; }
.chart text { font-size: 12px; fill: #1a1a1a; }
.chart .name { text-anchor: middle; font-weight: 600; }
.chart .g { stroke: #dcdcdc; }
.chart .line { fill: none; stroke: #1f5fa8; stroke-width: 2; }
.chart .even { fill: none; stroke: #595959; stroke-width: 1.5; stroke-dasharray: 5 4; }
.chart .band { fill: #1f5fa8; fill-opacity: 0.15; }
.chart .range { stroke: #595959; stroke-width: 1.5; }
.chart .dot, .chart .bar { fill: #1f5fa8; }
.chart .small { fill: #1f5fa8; fill-opacity: 0.6; }
img { max-width: 96px; max-height: 96px; min-width: 40px; image-rendering: pixelated; }
@media (max-width: 40rem) { nav ol { columns: 1; } dl div { display: block; } }
@media print {
  body { max-width: none; font-size: 10pt; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; }
  h2 { break-after: avoid; }
  tr, .chart, dl div { break-inside: avoid; }
  thead { display: table-header-group; }
  td, .bar, .band { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
