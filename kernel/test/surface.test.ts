import { expect, test } from "vitest";
import { HookTable } from "../src/hooks.ts";
import * as kernel from "../src/index.ts";
import { AgentError, createAgent, isAgentError, maskSecrets } from "../src/index.ts";

test("the names that the kernel exports change only on purpose", () => {
  expect(Object.keys(kernel).sort()).toEqual([
    "AgentError",
    "SECTION_SLOTS",
    "createAgent",
    "currentOwner",
    "headlessUi",
    "isAgentError",
    "maskSecrets",
    "runAs",
    "toAgentError",
    "uuidv7",
  ]);
});

test("the kernel's hook points and their ways change only on purpose", () => {
  const points = Object.values(new HookTable(() => {}).at);
  const byWay = Object.groupBy(points, ({ way }) => way);
  const names = Object.fromEntries(
    Object.entries(byWay).map(([way, list]) => [way, list.map(({ name }) => name).sort()]),
  );
  expect(names).toEqual({
    notify: [
      "after_provider_response",
      "agent_end",
      "agent_settled",
      "agent_start",
      "auto_retry_end",
      "auto_retry_start",
      "child_created",
      "extension_error",
      "fault",
      "message_start",
      "message_update",
      "model_select",
      "provider_stream_event",
      "queue_update",
      "resources_changed",
      "session_info_changed",
      "session_shutdown",
      "session_start",
      "thinking_level_select",
      "tool_execution_end",
      "tool_execution_start",
      "tool_execution_update",
      "transcript_append",
      "transcript_flush",
      "turn_start",
      "ui_prompt_end",
      "ui_prompt_start",
    ],
    chain: [
      "agent_before_settle",
      "before_agent_start",
      "before_provider_headers",
      "before_provider_request",
      "before_turn",
      "context",
      "input",
      "message_end",
      "tool_result",
      "turn_end",
    ],
    gate: ["tool_call"],
    first: ["provider_error", "session_select"],
    around: ["provider_call"],
  });
});

test("an error carries its code, what to do and its owner, and is told by its code across copies of the kernel", () => {
  const error = new AgentError("no_key", "There is no key.", { hint: "Set one.", owner: "x" });
  expect(error).toMatchObject({ code: "no_key", message: "There is no key.", hint: "Set one.", owner: "x" });
  expect(isAgentError(Object.assign(new Error("other copy"), { code: "x", hint: undefined }))).toBe(true);
  expect(isAgentError(Object.assign(new Error("node's own"), { code: "ENOENT" }))).toBe(false);
});

test.each([
  ["a key in a text", `key sk-${"a1".repeat(10)} is bad`, "key *** is bad"],
  ["a password in an address", "postgres://me:secret@db/x", "postgres://me:***@db/x"],
  ["a bearer token", "Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer ***"],
  ["nothing in plain words", "the task-list is long", "the task-list is long"],
])("%s is masked", (_what, given, masked) => {
  expect(maskSecrets(given)).toBe(masked);
  expect(new AgentError("x", given).message).toBe(masked);
});

test("an embedding program gets no process handlers from an agent", async () => {
  const before = process.eventNames().map((name) => process.listenerCount(name));
  const agent = createAgent();
  await agent.ready();
  expect(process.eventNames().map((name) => process.listenerCount(name))).toEqual(before);
  await agent.dispose();
});
