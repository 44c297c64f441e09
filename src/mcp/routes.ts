import { Elysia } from "elysia";
import { TURNS } from "../admission/budgets.ts";
import { FairTurns } from "../admission/fair-turns.ts";
import { ApiError } from "../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../http/exchange.ts";
import { flat } from "../http/limits/prices.ts";
import { captureBodyAfter, parseBody, rawBody } from "../http/request/body.ts";
import type { OwnOrigin } from "../http/request/own-origin.ts";
import { noRoom } from "../http/response/error-response.ts";
import { loadOnce } from "../lib/promises.ts";
import type { McpEndpoint } from "./endpoint.ts";

/** Price of each request, in addition to the units of the reads that it makes. */
const REQUEST_UNITS = 2;

/** Documents for models that read a site without its tools. */
interface LlmsPages {
  readonly list: () => string;
  /** Returns the page at a path below `/llms/`. */
  readonly page: (path: string) => string | undefined;
}

const markdown = (text: string) =>
  new Response(text, {
    headers: { "content-type": "text/markdown; charset=utf-8", "cache-control": "public, max-age=300" },
  });

/**
 * Routes of `POST /mcp`, and of `/llms.txt` with its pages. Their code is loaded by the first request. A foreign `Host`, or a page of
 * another origin, is refused before the body is read, because such a page could otherwise reach a node on its visitor's machine (DNS
 * rebinding).
 */
export function mcpRoutes({
  own,
  load,
  loadPages,
}: {
  readonly own: OwnOrigin;
  readonly load: () => Promise<McpEndpoint>;
  readonly loadPages: () => Promise<LlmsPages>;
}) {
  const endpoint = loadOnce(load);
  const pages = loadOnce(loadPages);
  const turns = new FairTurns(TURNS.mcpRequests);
  const check = async ({ request }: { readonly request: Request }) => {
    if (!own.isOwnHost(request.headers.get("host")))
      throw new ApiError("forbidden", "this host name is not one of the node's own");
    if (!own.isOwnOrigin(request)) throw new ApiError("forbidden", "other origins may not call this");
  };
  const hooks = {
    parse: captureBodyAfter(check),
    detail: { hide: true },
    access: { kind: "bearer" },
    price: flat(REQUEST_UNITS),
  } as const;
  const open = { detail: { hide: true }, access: { kind: "open" } } as const;
  return new Elysia({ name: "mcp" })
    .get("/llms.txt", async () => markdown((await pages()).list()), open)
    .get(
      "/llms/*",
      async ({ params }) => {
        const text = (await pages()).page(params["*"]);
        if (text === undefined) throw new ApiError("notFound", "there is no such page: see /llms.txt");
        return markdown(text);
      },
      open,
    )
    .post(
      "/mcp",
      async ({ request }) => {
        await check({ request });
        const message = parseBody(rawBody(request));
        // Revisions since 2025-06-18 have no batches, and a batch could make a hundred calls for the price of one.
        if (Array.isArray(message))
          throw new ApiError("badRequest", "send one message a request: batches are not served");
        const client = clientKeyOf(exchangeOf(request));
        const response = await turns.run(client, async () => (await endpoint())(request, message));
        if (response === undefined) throw noRoom(TURNS.mcpRequests.unit, "client");
        return response;
      },
      hooks,
    );
}
