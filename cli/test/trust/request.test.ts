import { expect, test } from "vitest";
import { answerOf, parseRequest } from "../../src/trust/request.ts";

const NOTHING = { target: undefined, isJson: false, isFolder: false, isBelow: false };

test.each([
  [[], { verb: "status" }],
  [["show"], { verb: "show" }],
  [["show", "../other", "--json"], { verb: "show", target: "../other", isJson: true }],
  [["diff", ".pi/extensions/a.ts"], { verb: "diff", target: ".pi/extensions/a.ts" }],
  [["yes"], { verb: "yes" }],
  [["yes", "--folder", "--below", "."], { verb: "yes", target: ".", isFolder: true, isBelow: true }],
  [["text", "--below"], { verb: "text", isBelow: true }],
  [["no"], { verb: "no" }],
  [["list", "--json"], { verb: "list", isJson: true }],
  [["forget", "/gone"], { verb: "forget", target: "/gone" }],
  [["no", "--", "--below"], { verb: "no", target: "--below" }],
  [["yes", "--folder", "--", "--below"], { verb: "yes", target: "--below", isFolder: true }],
])("%j is understood", (words, request) => {
  expect(parseRequest(words, "pi trust")).toEqual({ ...NOTHING, ...request });
});

test.each([
  [["sure"], "sure is none of its words"],
  [["--json"], "--json is none of its words"],
  [["yes", "--json"], "yes does not take --json"],
  [["text", "--folder"], "text does not take --folder"],
  [["yes", "--approve"], "yes does not take --approve"],
  [["yes", "a", "b"], "one path at a time"],
  [["list", "a"], "list takes no path"],
  [["no", "a", "--", "--below"], "one path at a time"],
  [["--", "yes"], "status takes no path"],
])("attack 18: %j is not guessed at", (words, why) => {
  expect(parseRequest(words, "pi trust")).toMatchObject({ what: `pi trust ${words.join(" ")} is not known`, why });
});

test.each([
  [["yes"], "content"],
  [["yes", "--folder"], "folder"],
  [["text"], "text"],
  [["no"], "never"],
  [["forget"], undefined],
  [["show"], undefined],
])("%j gives the answer %s", (words, answer) => {
  const request = parseRequest(words, "pi trust");
  expect("verb" in request && answerOf(request)).toBe(answer);
});
