/** How an exported page looks, by day and by night. */
export const STYLE = `
:root { --ink: #1c1e21; --dim: #6a7078; --page: #fff; --box: #f4f5f7; --line: #dcdfe4; --you: #e7f0fb; --bad: #b3261e; --mark: #8a5a00 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6ea; --dim: #9aa1ab; --page: #16181b; --box: #202327; --line: #363b42; --you: #1d2b3d; --bad: #ff8a80; --mark: #ffc766 }
}
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem; color: var(--ink); background: var(--page); font: 15px/1.55 system-ui, sans-serif }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; unicode-bidi: isolate } h2 { font-size: 1.05rem; margin: 2.5rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 1rem; color: var(--dim); font-size: .85rem } dd { margin: 0; overflow-wrap: anywhere }
a { color: inherit }
article { margin: .6rem 0; padding: .5rem .8rem; border: 1px solid transparent; border-radius: .4rem }
article > header { color: var(--dim); font-size: .75rem; display: flex; gap: .6rem; flex-wrap: wrap; align-items: baseline }
.user { background: var(--you) } .toolResult, .bashExecution, .custom, .summarised { background: var(--box) }
.aside { padding-block: 0; color: var(--dim); font-size: .8rem } .aside .text { display: inline }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; margin: .3rem 0 }
pre { margin: .3rem 0; padding: .5rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; background: var(--box); border: 1px solid var(--line); border-radius: .3rem; font: 13px/1.45 ui-monospace, monospace }
details { margin: .3rem 0 } summary { cursor: pointer; color: var(--dim); overflow-wrap: anywhere; unicode-bidi: isolate }
.error, .error > summary { color: var(--bad) } .label { color: var(--mark); font-weight: 600 } .here { font-weight: 600 }
.branches { margin: .2rem 0 .2rem .8rem; font-size: .85rem; color: var(--dim) }
img { max-width: 100%; border-radius: .3rem }
`.trim();
