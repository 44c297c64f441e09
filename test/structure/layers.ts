/**
 * The rooms of `src`, top to bottom: a file imports from its own room and from rooms below it. `db` has three rooms,
 * because the index and the state do not know of each other.
 */
export const LAYERS = [
  "main.ts",
  "cli",
  "node",
  "console",
  "mcp",
  "cluster",
  "api",
  "hub",
  "upstream",
  "import",
  "push",
  "stream",
  "webhooks",
  "apps",
  "writes",
  "signers",
  "sign-in",
  "transactions",
  "api-keys",
  "sessions",
  "management",
  "audit",
  "demo",
  "ingest",
  "auth",
  "vault",
  "http",
  "read",
  "db/index",
  "db/postgres",
  "db/state",
  "db/sqlite",
  "admission",
  "runtime",
  "trust",
  "protocol",
  "net",
  "config",
  "lib",
  "version.ts",
] as const;

/** The files and folders of a room, top to bottom, for rooms whose parts have an order of their own. */
export const LAYERS_OF_ROOMS: Readonly<Record<string, readonly string[]>> = {
  api: [
    "plugins.ts",
    "hub-plugins.ts",
    "sign-in-mounts.ts",
    "compat-plugin.ts",
    "openapi-examples.json",
    "operations.ts",
    "sdk-methods.ts",
    "operations",
    "topic.ts",
    "op.ts",
    "respond.ts",
    "dialects",
    "deps.ts",
    "command.ts",
  ],
};

/** The folders that import each other in a circle, by the folder that they are in. The list may only get shorter. */
export const TWO_WAY = [
  "src/console/web: content, demo, owner, parts, shell",
  "src/node: console, snapshot, state-check, workers",
  "src/read/queries: casts, users",
  "src/webhooks: match, publish",
] as const;
