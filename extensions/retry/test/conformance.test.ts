import { testExtension } from "@pi-agent/testing";
import { test } from "vitest";
import retry from "../src/index.ts";

testExtension(retry, { test });
