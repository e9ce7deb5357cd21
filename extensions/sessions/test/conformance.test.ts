import { testExtension } from "@pi-agent/testing";
import { test } from "vitest";
import sessions from "../src/index.ts";

testExtension(sessions, { test, host: { flags: new Map([["no-session", true]]) } });
