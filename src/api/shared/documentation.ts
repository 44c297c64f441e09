import type { ServiceNames } from "../../config/names.ts";
import type { ApiDocumentation } from "../../http/openapi.ts";
import type { OperationExample } from "../../http/openapi-examples.ts";
import { type WebhookExample, webhookDocumentation } from "../native/webhooks/openapi-webhooks.ts";

/** Content of `openapi-examples.json`, which `bun run openapi:examples` writes. */
export interface DocumentationExamples {
  readonly native: Readonly<Record<string, OperationExample>>;
  readonly compat: Readonly<Record<string, OperationExample>>;
  /** By event kind. */
  readonly webhooks: Readonly<Record<string, WebhookExample>>;
}

/** API keys, headers and the user agent of deliveries begin with the name of the service. */
function underOwnNames(text: string, { segment, headerPrefix }: ServiceNames): string {
  return text
    .replaceAll('"svc_', `"${segment}_`)
    .replaceAll('"svc/', `"${segment}/`)
    .replaceAll('"X-Svc-', `"${headerPrefix}`);
}

/** Loads the examples of the operations and the description of webhooks for the OpenAPI document. */
export async function loadDocumentation(): Promise<ApiDocumentation> {
  const { default: content } = await import("./openapi-examples.json");
  const { webhooks, ...examples } = content as unknown as DocumentationExamples;
  return {
    examples: (names) => JSON.parse(underOwnNames(JSON.stringify(examples), names)),
    webhooks: (names) => webhookDocumentation(names, webhooks),
  };
}
