import { testExtension } from "@pi-agent/testing";
import { test } from "vitest";
import stepLog from "../src/index.ts";

testExtension(stepLog, { test });
testExtension(stepLog, { test, host: { flags: new Map([["log", "log.jsonl"]]) } });
