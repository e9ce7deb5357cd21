import type { Entry } from "@pi-agent/kernel";
import { expect, test } from "vitest";
import { chain, entryOf, SAMPLES, said } from "../../src/conformance/samples.ts";
import { htmlPage, type Page } from "../../src/export/html.ts";
import { textBlock, toHtml } from "../../src/export/html-text.ts";
import { sectionsOf } from "../../src/export/sections.ts";
import { countSession } from "../../src/export/statistics.ts";
import { everyEntry, treeOf } from "../../src/export/tree.ts";
import { wordExpense, wordHoldings } from "../../src/export/words.ts";
import { parseSession } from "../../src/format.ts";
import { header, lines } from "../support.ts";

const at = (id: string, parentId: string | null = null) => ({ id, parentId });

function pageOf(entries: readonly Entry[], more: Partial<Page> = {}): string {
  const page = { tree: treeOf(entries), id: "s-1", cwd: "/project", created: "2026-01-02T03:04:05.678Z", ...more };
  return [...htmlPage(page)].join("");
}

function answer(id: string, parentId: string | null, content: object[], more: object = {}): Entry {
  const message = { role: "assistant", content, api: "x", provider: "x", model: "x", usage: undefined, ...more };
  return entryOf("message", at(id, parentId), { message } as never);
}

/** What a browser would take for a tag: no text of a session may become one. */
function tagsOf(page: string): Set<string> {
  return new Set(Array.from(page.matchAll(/<\/?([a-z][a-z0-9]*)/gi), ([, tag]) => tag!.toLowerCase()));
}

// What the page itself is made of.
const OWN_TAGS =
  "html head meta title style body h1 h2 dl dt dd a article header time span div pre details summary img".split(" ");

test("a page needs nothing else: no script, nothing fetched, both colour schemes, thinking and results folded", () => {
  const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
  const page = pageOf([
    entryOf("message", at("a"), {
      message: { role: "user", content: [{ type: "text", text: "look" }, image], timestamp: 1 },
    } as never),
    answer("b", "a", [
      { type: "thinking", thinking: "Let me see." },
      { type: "text", text: "Here:\n```ts\nconst a = 1 < 2;\n```\nDone." },
      { type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts" } },
    ]),
    SAMPLES.compaction(at("c", "b"), "a"),
  ]);
  expect(page).toContain("default-src 'none'");
  expect(page).toContain("prefers-color-scheme: dark");
  expect(page).toContain('<img alt="" src="data:image/png;base64,iVBORw0KGgo=">');
  expect(page).toContain('<details class="thinking"><summary>thinking</summary>');
  expect(page).toContain("<summary>read a.ts</summary>");
  expect(page).toContain('<pre class="code">const a = 1 &lt; 2;</pre>');
  expect(page).not.toMatch(/<script|<link|<iframe|https?:|url\(|@import/i);
  for (const [, target] of page.matchAll(/(?:href|src)="([^"]*)"/g)) expect(target).toMatch(/^(?:#|data:image\/)/);
});

const HOSTILE = [
  "</script><script>alert(1)</script>",
  "</style></title></head><img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  "[click](javascript:alert(1)) <a href=javascript:alert(1)>x</a>",
  "\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007 \u001b]0;title",
  "nul \0 bell \u0007 back \b",
  "lone \ud800 surrogate \udfff",
  "right \u202e to left \u2066",
  "<!-- --><![CDATA[ ]]>&amp;&#60;",
  "```\n</pre><script>alert(1)</script>",
];

test("hostile content stays text wherever it stands: no tag, no attribute, no link, no terminal code comes of it", () => {
  for (const text of HOSTILE) {
    const image = { type: "image", data: text, mimeType: text };
    const page = pageOf(
      [
        said(at("a"), text),
        answer(
          "b",
          "a",
          [
            { type: "thinking", thinking: text },
            { type: "text", text },
            { type: "toolCall", id: text, name: text, arguments: { [text]: text } },
          ],
          { errorMessage: text, stopReason: "error" },
        ),
        entryOf("message", at("c", "b"), {
          message: {
            role: "toolResult",
            toolCallId: text,
            toolName: text,
            content: [{ type: "text", text }, image],
            isError: true,
            timestamp: 1,
          },
        } as never),
        entryOf("message", at("d", "c"), {
          message: { role: "bashExecution", command: text, output: text, exitCode: text, timestamp: 1 },
        } as never),
        entryOf("custom", at("e", "d"), { customType: text, data: text }),
        entryOf("label", at("f", "e"), { targetId: "a", label: text }),
        { ...SAMPLES.branch_summary(at("g", "a"), "a"), summary: text, timestamp: text } as Entry,
        { type: text, ...at("h", "g"), timestamp: 7 } as never,
        entryOf("message", at("i", "h"), { message: { role: text, content: text } } as never),
      ],
      { id: text, cwd: text, created: text, name: text, systemPrompt: text },
    );
    expect([...tagsOf(page)].filter((tag) => !OWN_TAGS.includes(tag))).toEqual([]);
    expect(page).not.toMatch(/<[^>]*\son\w+\s*=/i);
    expect(page).not.toMatch(/<[^>]*javascript:/i);
    expect(page).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u);
    expect(page.isWellFormed()).toBe(true);
    expect(Array.from(page.matchAll(/<img /g))).toHaveLength(0);
  }
});

test("what a session holds and took is worded as everywhere", () => {
  const tree = treeOf([said({ id: "a", parentId: null })]);
  const text = [...htmlPage({ tree, id: "s", cwd: "/p", created: "" })].join("");
  const counts = countSession(everyEntry(tree));
  expect(text).toContain(`<dd>${wordHoldings(counts)}</dd><dt>took</dt><dd>${wordExpense(counts)}</dd>`);
});

test("text is escaped, terminal codes go, other control characters can be seen", () => {
  expect(toHtml(`<a href="x">&'`)).toBe("&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  expect(toHtml("\u001b[1;31mred\u001b[0m\r\nnext\rlast")).toBe("red\nnext\nlast");
  expect(toHtml("a\0b\u007f\u202e")).toBe("a\u2400b\\u{7f}\\u{202e}");
  expect(toHtml("\ud800")).toBe("\ufffd");
  expect(toHtml(undefined)).toBe("");
  expect(textBlock("a\n\n```\n<b>\n```\nc")).toBe(
    '<div class="text">a</div>\n<pre class="code">&lt;b&gt;</pre>\n<div class="text">c</div>',
  );
});

test("every entry is on the page once, and every branch can be reached from where it begins and back", () => {
  const tree = [
    ...chain(["a", "b", "c"]),
    said(at("d", "b"), "other way"),
    said(at("e", "d"), "goes on"),
    said(at("f", "d"), "third way"),
    said(at("g"), "second root"),
    SAMPLES.label(at("l", "c"), "c"),
    said(at("h", "c"), "the end"),
  ];
  const sections = sectionsOf(treeOf(tree));
  expect(sections.flatMap(({ entries }) => entries.map(({ id }) => id)).sort()).toEqual(
    tree.map(({ id }) => id).sort(),
  );
  expect(sections[0]!.entries.map(({ id }) => id)).toEqual(["a", "b", "c", "h"]);
  const page = pageOf(tree);
  expect(page).toContain("the conversation stands here");
  const targets = new Set(Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id!));
  const links = Array.from(page.matchAll(/href="#([^"]+)"/g), ([, id]) => id!);
  expect(links.filter((link) => !targets.has(link))).toEqual([]);
  for (const [place] of sections.entries()) {
    if (place > 0) expect(links).toContain(`branch-${place}`);
  }
});

test("a tree of 50,000 entries in one line, or each a branch of its own, is made without deep calls", () => {
  const ids = Array.from({ length: 50_000 }, (_, i) => `e${i}`);
  expect(pageOf(chain(ids)).length).toBeGreaterThan(5_000_000);
  const comb = ids.map((id, i) => said(at(id, i % 2 === 0 ? (ids[i - 2] ?? null) : ids[i - 1]!), id));
  expect(sectionsOf(treeOf(comb))).toHaveLength(25_000);
});

test("a session that came damaged is exported as it was mended", () => {
  const text = lines(
    header(),
    {
      type: "message",
      id: "a",
      parentId: "nowhere",
      message: { role: "assistant", content: [{ type: "toolCall", id: "1", name: "read" }, null] },
    },
    { type: "strange", id: "b", parentId: "a", more: { deep: [1] } },
    { type: "message", id: "c", parentId: "b", timestamp: 5, message: { role: "odd" } },
  );
  const { entries } = parseSession(`${text}{"type":"mess`)!;
  const page = pageOf(entries);
  expect(page).toContain("strange");
  expect(Array.from(page.matchAll(/<article /g))).toHaveLength(3);
});
