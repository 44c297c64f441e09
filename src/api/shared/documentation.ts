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

/** Loads the examples of the operations and the description of webhooks for the OpenAPI document. */
export async function loadDocumentation(): Promise<ApiDocumentation> {
  const { default: content } = await import("./openapi-examples.json");
  const { webhooks, ...examples } = content as unknown as DocumentationExamples;
  return {
    // Keys begin with the name of the service.
    examples: ({ segment }) => JSON.parse(JSON.stringify(examples).replaceAll('"svc_', `"${segment}_`)),
    webhooks: (names) => webhookDocumentation(names, webhooks),
  };
}
