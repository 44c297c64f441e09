import { callTool } from "../call-tool.ts";
import { ToolError } from "../node-call.ts";
import type { ToolContext } from "../tool.ts";
import { castTools } from "../tools/casts.ts";
import { userTools } from "../tools/users.ts";
import { DOCS_PAGES } from "./docs-pages.embedded.ts";

const MARKDOWN = "text/markdown";
const PLAIN = "text/plain";
/** Start of a result in which the node reports that a record does not exist. */
const NOT_FOUND = /^404:/;

/**
 * Creates the resources that a client can read by URI. Texts by strangers are fenced, as in the results of tools.
 *
 * @param scheme the name of the service.
 */
export function createResources({
  scheme,
  maxResultBytes,
}: {
  readonly scheme: string;
  readonly maxResultBytes: number;
}) {
  const openApiUri = `${scheme}://openapi`;
  const uriOf = (kind: string, id: string) => `${scheme}://${kind}/${id}`;

  async function resultOf(name: string, args: Record<string, unknown>, context: ToolContext) {
    const tool = [...userTools, ...castTools].find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    const { content, isError } = await callTool(tool, args, context, maxResultBytes);
    const text = content[0]?.text ?? "";
    if (!isError) return text;
    if (NOT_FOUND.test(text)) return undefined;
    throw new ToolError(text);
  }

  return {
    list: (): { uri: string; name: string; title: string; mimeType: string }[] => [
      ...Object.entries(DOCS_PAGES).map(([page, text]) => ({
        uri: uriOf("docs", page),
        name: page,
        title: titleOf(text, page),
        mimeType: MARKDOWN,
      })),
      { uri: openApiUri, name: "openapi", title: "The OpenAPI document", mimeType: "application/json" },
    ],

    templates: (): { uriTemplate: string; name: string; title: string; mimeType: string }[] => [
      {
        uriTemplate: uriOf("docs", "{page}"),
        name: "docs",
        title: "A page of the documentation",
        mimeType: MARKDOWN,
      },
      {
        uriTemplate: uriOf("user", "{user}"),
        name: "user",
        title: "A user, by fid or username",
        mimeType: PLAIN,
      },
      { uriTemplate: uriOf("cast", "{hash}"), name: "cast", title: "A cast, by its hash", mimeType: PLAIN },
    ],

    /**
     * Reads a resource. Undefined if the URI names none.
     *
     * @throws ToolError if the node refuses the request.
     */
    async read(
      uri: string,
      context: ToolContext,
    ): Promise<{ uri: string; mimeType: string; text: string } | undefined> {
      if (uri === openApiUri) {
        const text = JSON.stringify(await context.getRoot<unknown>("/openapi.json"));
        return { uri, mimeType: "application/json", text };
      }
      const [kind, id] = partsOf(uri, `${scheme}://`);
      switch (kind) {
        case "docs": {
          const text = Object.hasOwn(DOCS_PAGES, id) ? DOCS_PAGES[id] : undefined;
          return text === undefined ? undefined : { uri, mimeType: MARKDOWN, text };
        }
        case "user": {
          const text = await resultOf(
            "get_user",
            /^\d+$/.test(id) ? { fid: Number(id) } : { username: id },
            context,
          );
          return text === undefined ? undefined : { uri, mimeType: PLAIN, text };
        }
        case "cast": {
          const text = await resultOf("get_cast", { cast: id }, context);
          return text === undefined ? undefined : { uri, mimeType: PLAIN, text };
        }
        default:
          return undefined;
      }
    },
  };
}

/** Returns the first heading of a page. */
export function titleOf(markdown: string, page: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? page;
}

function partsOf(uri: string, start: string): readonly [kind: string, id: string] {
  const [, kind = "", id = ""] = uri.startsWith(start)
    ? (/^([a-z]+)\/(.+)$/.exec(uri.slice(start.length)) ?? [])
    : [];
  try {
    return [kind, decodeURIComponent(id)];
  } catch {
    return ["", ""];
  }
}
