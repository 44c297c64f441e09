import type { ServiceNames } from "../config/names.ts";
import type { OperationExample } from "../http/openapi/examples.ts";
import type { ApiDocumentation } from "../http/openapi/openapi.ts";
import type { HttpServerOptions } from "../http/server.ts";
import type { ReadSource } from "../read/run-query.ts";
import { compatPlugin } from "./compat-plugin.ts";
import type { ApiDeps, Dialect, ManagementDeps } from "./deps.ts";
import { nativeDialect } from "./dialects/native.ts";
import { pluginOf } from "./op.ts";
import { type WebhookExample, webhookDocumentation } from "./operations/webhooks/openapi-webhooks.ts";
import { OPERATIONS } from "./operations.ts";

/** The content of `openapi-examples.json`, which `bun run openapi:examples` writes. */
export interface DocumentationExamples {
  readonly native: Readonly<Record<string, OperationExample>>;
  readonly compat: Readonly<Record<string, OperationExample>>;
  /** By event kind. */
  readonly webhooks: Readonly<Record<string, WebhookExample>>;
}

/** Replaces the service's name, with which API keys, headers and the user agent of deliveries begin. */
function underOwnNames(text: string, { segment, headerPrefix }: ServiceNames): string {
  return text
    .replaceAll('"svc_', `"${segment}_`)
    .replaceAll('"svc/', `"${segment}/`)
    .replaceAll("/v2/svc/", `/v2/${segment}/`)
    .replaceAll('"X-Svc-', `"${headerPrefix}`);
}

/** Loads the examples of the operations and the description of webhooks for the OpenAPI document. */
async function loadDocumentation(): Promise<ApiDocumentation> {
  const { default: content } = await import("./openapi-examples.json");
  const { webhooks, ...examples } = content as unknown as DocumentationExamples;
  return {
    examples: (names) => JSON.parse(underOwnNames(JSON.stringify(examples), names)),
    webhooks: (names) => webhookDocumentation(names, webhooks),
  };
}

/** Dependencies of the routes of both dialects. */
interface ApiOptions extends Omit<ApiDeps, "dialect" | "reads" | keyof ManagementDeps> {
  readonly source: ReadSource;
  readonly management: ManagementDeps;
}

/** Returns the routes of the API in both dialects. */
export function apiPlugins({
  source,
  management,
  ...rest
}: ApiOptions): Pick<HttpServerOptions, "plugins" | "compatPlugins" | "documentation"> {
  const depsOf = (dialect: Dialect): ApiDeps => ({
    ...management,
    ...rest,
    dialect,
    reads: {
      ...source,
      present: dialect.present,
      withAuthorRelations: dialect.withAuthorRelations,
      withoutHiddenQuotes: dialect.withoutHiddenQuotes,
    },
  });
  return {
    plugins: [pluginOf("native", OPERATIONS, depsOf(nativeDialect))],
    compatPlugins: () => [compatPlugin(depsOf)],
    documentation: loadDocumentation,
  };
}
