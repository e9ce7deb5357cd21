import { testExtension } from "@pi-agent/testing";
import { test } from "vitest";
import postgres from "../src/index.ts";

testExtension(postgres, { test });
