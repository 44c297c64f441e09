import { isDeepStrictEqual } from "node:util";
import type { DocumentationExamples } from "../../../src/api/plugins.ts";
import type { Json } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import type { TestApi } from "../../support/api.ts";
import { historyExamples } from "./history-examples.ts";
import { hubSubmitExamples } from "./hub-requests.ts";
import { managedExamples } from "./managed-examples.ts";
import { type DialectName, documentedOperations, exampleOf, send } from "./operations.ts";
import { opsExamples } from "./ops-examples.ts";
import { ownWriteExamples } from "./publish-examples.ts";
import { readRequests } from "./read-requests.ts";
import { scoreExamples } from "./score-examples.ts";
import { loginExamples, signInExamples } from "./sign-in-examples.ts";
import { withStableIds } from "./stable-ids.ts";
import { webhookExamples } from "./webhook-examples.ts";

/**
 * Creates examples for every operation and every webhook from requests to the demo network. Each run returns the
 * same.
 * @param api the API of `startDemoApi`; its network advances
 * @param known the examples of the file, for those whose numbers differ in every run
 */
export async function generateExamples(
  api: TestApi,
  known: DocumentationExamples,
): Promise<DocumentationExamples> {
  const operations = documentedOperations(api.document.paths);
  const requestOf = await readRequests(api);
  const examplesOf = async (dialect: DialectName): Promise<Record<string, OperationExample>> => {
    const examples: Record<string, OperationExample> = {};
    for (const one of operations) {
      const { responses, security } = one.operation as { responses: object; security?: unknown };
      const isSubmit = one.path.startsWith("/v1/") && one.method === "post";
      // A stream does not end; its route declares its own example.
      const isWritten = [signInExamples, scoreExamples, historyExamples].some((written) => one.id in written);
      const isOther = isSubmit || one.path.endsWith("/stream") || isWritten;
      const isRead = security === undefined && "200" in responses && /^\/v[12]\//.test(one.path) && !isOther;
      if (one.dialect !== dialect || !isRead) continue;
      const request = requestOf(one);
      examples[one.id] = exampleOf(request, await send(api, one, request));
    }
    return { ...examples, ...(await managedExamples(api, dialect, operations)) };
  };
  const ops = await opsExamples(known.native);
  const submits = await hubSubmitExamples(api);
  const native = withStableIds({
    ...ops,
    ...(await examplesOf("native")),
    ...submits,
    ...scoreExamples,
    ...historyExamples,
    ...signInExamples,
    ...ownWriteExamples,
  });
  const ofCompat = await examplesOf("compat");
  const users = ofCompat.getUsers?.responses["200"] as { readonly users: Json[] } | undefined;
  const compat = withStableIds({ ...ofCompat, ...loginExamples(users?.users[0] ?? null) });
  return { native, compat: withoutRepetitions(compat, native), webhooks: await webhookExamples(api) };
}

/** The examples that differ from those of the same ids in `known`. */
function withoutRepetitions(
  examples: Readonly<Record<string, OperationExample>>,
  known: Readonly<Record<string, OperationExample>>,
): Record<string, OperationExample> {
  const differing = Object.entries(examples).filter(
    ([id, example]) => !isDeepStrictEqual(example, known[id]),
  );
  return Object.fromEntries(differing);
}

/** The file's text: one example per line, so that a diff shows which one changed. */
export function textOf(examples: DocumentationExamples): string {
  const sections = Object.entries(examples).map(([name, entries]) => {
    const lines = Object.entries(entries).map(
      ([id, example]) => `    ${JSON.stringify(id)}: ${JSON.stringify(example)}`,
    );
    return `  ${JSON.stringify(name)}: {\n${lines.join(",\n")}\n  }`;
  });
  return `{\n${sections.join(",\n")}\n}\n`;
}

export async function readExamples(): Promise<DocumentationExamples> {
  return JSON.parse(await Bun.file(examplesPath).text()) as DocumentationExamples;
}

export const examplesPath = new URL("../../../src/api/openapi-examples.json", import.meta.url).pathname;

/** The command that updates the file, for the message of a failing test. */
export const REFRESH = "bun run openapi:examples";
