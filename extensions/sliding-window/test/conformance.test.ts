import { testExtension } from "@pi-agent/testing";
import { test } from "vitest";
import slidingWindow from "../src/index.ts";

testExtension(slidingWindow, { test, options: { messages: 4 } });
