"""The style sheet of the fleet report; colours are those of a run's report."""

STYLE = """:root{color-scheme:light;--page:#f5f6f7;--ground:#fff;--text:#1a1a1a;--faint:#555;--grid:#e4e4e4;--accent:#005a96;
--failing:#1a1a1a;--drive:#a5211a;--slot:#6b3fa0;--either:#d55e00;--sound:#b6c2cb}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--page:#0f1114;--ground:#16181c;--text:#f0f0f0;--faint:#b0b4ba;
--grid:#2f333a;--accent:#7cc4f5;--failing:#f0f0f0;--drive:#ff8a80;--slot:#c9a6ff;--either:#f28e2b;--sound:#3d4650}}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
font-variant-numeric:tabular-nums}main{max-width:76rem;margin:0 auto;padding:1.5rem 1.5rem 4rem}h1{font-size:1.9rem;line-height:1.2;margin:.6rem 0 .3rem}
h2{font-size:1.3rem;margin:2.6rem 0 .5rem}h3{font-size:1.05rem;margin:1.4rem 0 .4rem}p{margin:0 0 .7rem}.faint{color:var(--faint);max-width:56rem}a{color:var(--accent)}
nav{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1px;margin:1.2rem 0;background:var(--grid);border:1px solid var(--grid);border-radius:8px;overflow:hidden}
.tile{padding:.8rem 1rem;background:var(--ground);color:inherit;text-decoration:none}.tile:hover span{text-decoration:underline}.tile b{display:block;font-size:1.7rem;line-height:1.2}
small{display:block;color:var(--faint);font-size:.85em;line-height:1.4}.key span,td span{display:inline-block;width:.75em;height:.75em;margin-right:.4em;border-radius:2px}.key span:not(:first-child){margin-left:1.2em}
.failing{background:var(--failing);fill:var(--failing)}.drive{background:var(--drive);fill:var(--drive)}.slot{background:var(--slot);fill:var(--slot)}.either{background:var(--either);fill:var(--either)}.sound{background:var(--sound);fill:var(--sound)}
.map{display:block;max-width:100%;height:auto}.map text{fill:var(--faint)}.map a:hover rect,.map a:focus rect{stroke:var(--text);stroke-width:.8}
.wide{overflow-x:auto}table{border-collapse:collapse;background:var(--ground);border:1px solid var(--grid);font-size:.92rem}.ranking{width:100%}th{color:var(--faint);font-weight:600;text-align:left;vertical-align:bottom}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--grid);white-space:nowrap;vertical-align:top}.n{text-align:right}.evidence{white-space:normal;min-width:12rem;font-size:.88rem}tr:target td{background:color-mix(in srgb,var(--accent) 15%,transparent)}
.spark{display:block}.spark path{stroke:var(--faint);stroke-dasharray:3 3;fill:none}.spark polyline{stroke:var(--accent);fill:none;stroke-width:1.3}
code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.88em}summary{padding:.4rem 0;color:var(--accent);cursor:pointer}
@media print{:root{--page:#fff}details{display:none}section{break-inside:avoid-page}}"""
