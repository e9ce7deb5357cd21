import type { Turn } from "../take.ts";

/** What the person asks for. */
export const PROMPT =
  "A customer with sixty pieces was charged too much. Find out why, mend it, and see that the tests pass.";

/** What the scripted model does about it. `node` is the command that runs Node. */
export function demoTurns(node: string): Turn[] {
  const runTests = { name: "bash", arguments: { command: `${node} --test` } };
  return [
    { text: "I run the tests first, to see the fault for myself.", calls: [runTests] },
    {
      thinking: "The test of sixty pieces fails: 4500 instead of 4000, so 10 % were taken off and not 20 %.",
      text: "Sixty pieces got 10 % off instead of 20 %. Let me see where the discount is made.",
      calls: [
        { name: "bash", arguments: { command: "find . -name '*.js' | sort" } },
        { name: "bash", arguments: { command: "grep -rn discount src README.md" } },
      ],
    },
    {
      text: "Two files decide the price. I read both, and the test.",
      calls: ["src/discount.js", "src/basket.js", "test/basket.test.js"].map((path) => {
        return { name: "read", arguments: { path } };
      }),
    },
    {
      thinking: "find takes the first step that fits. The steps go up, so 60 pieces stop at the step for 10.",
      text: "`find` takes the first step that fits, which is the one for ten pieces. The last one that fits is meant.",
      calls: [
        {
          name: "edit",
          arguments: {
            path: "src/discount.js",
            edits: [{ oldText: "STEPS.find(", newText: "STEPS.findLast(" }],
          },
        },
      ],
    },
    { text: "Now the tests again.", calls: [runTests] },
    {
      text: "It is mended, and all three tests pass.\n\nThe discount took the first step that fits instead of the last, so everything above ten pieces got 10 %. One word is changed, in src/discount.js: `find` is now `findLast`.",
    },
  ];
}
