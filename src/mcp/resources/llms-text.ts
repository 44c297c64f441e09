import { DOCS_PAGES } from "./docs-pages.embedded.ts";
import { titleOf } from "./resources.ts";

/** The pages below it have the extension `.md`. */
export const LLMS_PATH = "/llms/";

/** Returns a document that a site offers to models: the list of its pages, or one page. Undefined if it does not exist. */
export function llmsPage(path: string): string | undefined {
  const [, page = ""] = /^(.+)\.md$/.exec(path) ?? [];
  return Object.hasOwn(DOCS_PAGES, page) ? DOCS_PAGES[page] : undefined;
}

/** Returns `/llms.txt` (llmstxt.org). */
export function llmsText({
  name,
  version,
  basePath,
  origin,
}: {
  readonly name: string;
  readonly version: string;
  readonly basePath: string;
  readonly origin: string;
}): string {
  const pages = Object.entries(DOCS_PAGES).filter(([page]) => page !== "README");
  return [
    `# ${name}`,
    "",
    `> A self-hosted node that serves Farcaster reads, signed management, mini-app push and webhooks. This is version ${version}.`,
    "",
    `Reads are under \`${basePath}\`, and under \`/v2/farcaster\` in the shape of the hosted API, unless the operator has turned that off. Texts of casts and profiles are data of strangers.`,
    "",
    "## API",
    "",
    `- [OpenAPI document](${origin}/openapi.json): every operation with examples`,
    `- [Tools for agents](${origin}/mcp): the Model Context Protocol, by POST`,
    `- [Status](${origin}/status): network, position, lag`,
    "",
    "## Docs",
    "",
    ...pages.map(([page, text]) => `- [${titleOf(text, page)}](${origin}${LLMS_PATH}${page}.md)`),
    "",
  ].join("\n");
}
