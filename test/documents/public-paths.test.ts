import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createOwnOrigin } from "../../src/http/request/own-origin.ts";
import { mcpRoutes } from "../../src/mcp/routes.ts";
import { startTestApi } from "../support/api.ts";
import { documentExample, ROOT } from "../support/documents.ts";

const OPERATOR_PATHS = ["/health", "/metrics", "/ready", "/status"];

/** A path of each route that a node has, with `x` for its parameters. */
async function pathsOfNode(): Promise<string[]> {
  await using api = await startTestApi({ compatPrefixes: ["farcaster"], console: true });
  const own = createOwnOrigin({ publicUrl: "", listenHost: "127.0.0.1" });
  const mcp = mcpRoutes({ own, load: () => Promise.reject(), loadPages: () => Promise.reject() });
  const pages = [...api.pages, mcp].flatMap(({ routes }) => routes.map(({ path }) => path));
  const templates = [
    ...Object.keys(api.document.paths),
    ...pages,
    "/docs",
    "/docs/init.js",
    "/openapi.json",
    "/metrics",
  ];
  return [...new Set(templates.map((path) => path.replaceAll(/\{\w+\}|:\w+|\*/g, "x")))].toSorted();
}

const paths = await pathsOfNode();

/** The paths that a proxy lets through: the matcher `@public` of Caddy, or the first `location` by a pattern of paths of nginx. */
function allowedBy(config: string): RegExp {
  const caddy = /@public path (.+)/.exec(config)?.[1];
  if (caddy !== undefined) {
    const patterns = caddy.split(" ").map((path) => RegExp.escape(path).replaceAll("\\*", ".*"));
    return new RegExp(`^(?:${patterns.join("|")})$`);
  }
  return new RegExp(/location ~ (\^\/\S+) \{/.exec(config)?.[1] ?? "^$");
}

describe("lets through all routes of a node but the operator's:", () => {
  const configs: readonly (readonly [string, string])[] = [
    ["Caddy in front of one node", documentExample("Caddyfile")],
    ["nginx in front of one node", documentExample("nginx")],
    ["Caddy in front of two nodes", documentExample("balancer Caddyfile")],
    ["nginx in front of two nodes", documentExample("balancer nginx")],
  ];
  test.each(configs)("%s", (_, config) => {
    const allowed = allowedBy(config);
    expect(paths.filter((path) => !allowed.test(path))).toEqual(OPERATOR_PATHS);
  });

  test("Caddy of compose.postgres.yaml", async () => {
    const allowed = allowedBy(await Bun.file(join(ROOT, "compose.postgres.yaml")).text());
    expect(paths.filter((path) => !allowed.test(path))).toEqual(OPERATOR_PATHS);
  });
});

test("the routes include those of pages, sign-in, agents and the hub", () => {
  for (const path of ["/", "/console", "/approve/x", "/signin/x", "/login", "/quick-auth/nonce", "/rpc/10"])
    expect(paths).toContain(path);
  for (const path of ["/mcp", "/llms.txt", "/llms/x", "/v1/info", "/v2/svc/user", "/v2/farcaster/feed"])
    expect(paths).toContain(path);
});
