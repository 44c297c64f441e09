import { readdirSync, readFileSync } from "node:fs";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createConfirmTokens } from "../../src/mcp/confirm-tokens.ts";
import type { NodeCall } from "../../src/mcp/node-call.ts";
import { createMcpServer } from "../../src/mcp/server.ts";
import { callOverHttp } from "../../src/mcp/stdio.ts";
import type { Clock } from "../../src/runtime/clock.ts";

/** A result of a tool, as a client has it. */
export interface ToolOutcome {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: a result of any tool
  readonly structuredContent: any;
}

export interface ServedTools extends AsyncDisposable {
  readonly client: Client;
  call(name: string, args?: object): Promise<ToolOutcome>;
}

/** Serves the tools over a node at `url` to the official client, with a key of its own for tokens. */
export async function serveTools(options: {
  readonly url: string;
  readonly apiKey?: string;
  readonly clock?: Clock;
  readonly owner?: string;
  readonly tokenKey?: Uint8Array;
  readonly maxResultBytes?: number;
  readonly tools?: readonly string[];
  /** Default: over HTTP. */
  readonly call?: NodeCall;
  /** Default: throws. */
  readonly onFault?: (error: unknown) => void;
}): Promise<ServedTools> {
  const { url, apiKey, clock, owner = "", tokenKey = new Uint8Array(32), maxResultBytes = 65_536 } = options;
  const overHttp = callOverHttp(new URL(url), apiKey, async (to, init) => {
    const response = await fetch(to, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  });
  const server = createMcpServer({
    name: "svc",
    basePath: "/v2/svc",
    origin: url,
    maxResultBytes,
    tools: options.tools ?? [],
    call: options.call ?? overHttp,
    onFault: (error) => {
      if (options.onFault === undefined) throw error;
      options.onFault(error);
    },
    writes: clock && {
      compatPath: "/v2/farcaster",
      hashHeader: "X-Svc-Message",
      tokens: createConfirmTokens({ key: async () => tokenKey, owner, clock }),
    },
  });
  const client = new Client({ name: "test", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far as never);
  await client.connect(near);
  return {
    client,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: { ...args } })) as unknown as ToolOutcome,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.close();
    },
  };
}

/** The pages of `docs/`, by their path there without its ending. */
export function docsPages(): Map<string, string> {
  const dir = `${import.meta.dir}/../../docs`;
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
  return new Map(files.map((name) => [name.slice(0, -".md".length), readFileSync(`${dir}/${name}`, "utf8")]));
}
