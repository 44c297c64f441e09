import type { ApiDocumentation } from "../../http/openapi.ts";
import type { OperationExample } from "../../http/openapi-examples.ts";
import { type WebhookExample, webhookDocumentation } from "../native/webhooks/openapi-webhooks.ts";

/** What `openapi-examples.json` holds; `bun run openapi:examples` writes it. */
export interface DocumentationExamples {
  readonly native: Readonly<Record<string, OperationExample>>;
  readonly compat: Readonly<Record<string, OperationExample>>;
  /** By kind of event. */
  readonly webhooks: Readonly<Record<string, WebhookExample>>;
}

/** Examples of the operations and the description of webhooks, for the OpenAPI document. */
export async function loadDocumentation(): Promise<ApiDocumentation> {
  const { default: content } = await import("./openapi-examples.json");
  const { webhooks, ...examples } = content as unknown as DocumentationExamples;
  return { examples, webhooks: (names) => webhookDocumentation(names, webhooks) };
}
