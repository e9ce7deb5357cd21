import type { ExtensionAPI } from "@pi-agent/kernel";

/** Shortens the list that everybody's requests are made of, instead of handing on another one. */
export default function cutsARequest(pi: ExtensionAPI): void {
  pi.on("provider_call", (request, next) => {
    (request.messages as unknown[]).length = 1;
    return next(request);
  });
}
