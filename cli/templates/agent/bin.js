#!/usr/bin/env node
import { runAgentFile } from "@pi-agent/cli";

await runAgentFile(new URL("agent.json", import.meta.url));
