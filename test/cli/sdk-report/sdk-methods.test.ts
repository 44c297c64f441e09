import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Configuration, NeynarAPIClient, NeynarHubClient } from "@neynar/nodejs-sdk";
import axios from "axios";
import { FORMER_METHODS, HUB_METHODS, SDK_METHODS, type SdkClass } from "../../../src/api/sdk-methods.ts";
import routeCaches from "../../api/route-cache.json";

/** The table of methods says what the SDK does, and the paths of its hub client are the node's. */

const CLIENTS = { NeynarAPIClient, NeynarHubClient } as const;

/** The first request of each method of a client, as an axios instance sees it. */
async function requestsOf(of: SdkClass): Promise<Record<string, string>> {
  const file = Bun.resolveSync(`@neynar/nodejs-sdk/build/clients/${of}.d.ts`, import.meta.dir);
  const declarations = readFileSync(file, "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "");
  const method = /^ {4}(\w+)\((?:params\??: \{([\s\S]*?)\n {4}\})?[^)]*\): Promise</gm;
  const requests: Record<string, string> = {};
  const sent = () => Promise.withResolvers<string>();
  let current = sent();
  const axiosInstance = axios.create({
    adapter: async ({ method: verb = "", url = "" }) => {
      const path = decodeURIComponent(new URL(url).pathname).replace(/\/$/, "");
      current.resolve(`${verb.toUpperCase()} ${path}`);
      return await new Promise(() => {});
    },
  });
  // Methods that cost money there refuse to be called without the header of a wallet.
  const baseOptions = { headers: { "x-wallet-id": "w" } };
  const configuration = new Configuration({ apiKey: "none", basePath: "http://node.example", baseOptions });
  const client = new CLIENTS[of](configuration, { axiosInstance }) as unknown as Record<
    string,
    (values: object) => Promise<unknown>
  >;
  for (const [, name = "", parameters = ""] of declarations.matchAll(method)) {
    current = sent();
    const names = [...parameters.matchAll(/^ {8}(\w+):/gm)].map(([, parameter = ""]) => parameter);
    // A list joins its values; a text stands for itself in a path.
    const values = Object.fromEntries(
      names.map((key) => [key, /s$|^type$/.test(key) ? [`{${key}}`] : `{${key}}`]),
    );
    // The SDK's code wants another name than its types.
    const call = client[name]?.({
      xWalletId: "w",
      ...values,
      ...(name === "getTokenMetadata" ? { network: "n", address: "a" } : {}),
    });
    requests[name] = await Promise.race([
      current.promise,
      (call ?? Promise.resolve()).then(
        () => "nothing",
        (error: unknown) => `${error}`,
      ),
    ]);
  }
  return requests;
}

test.each([
  ["NeynarAPIClient", SDK_METHODS],
  ["NeynarHubClient", HUB_METHODS],
] as const)("the table has every method of %s and its request", async (of, table) => {
  expect(await requestsOf(of)).toEqual({ ...table });
});

test("the paths of the SDK's hub client are routes of the node", () => {
  // Another test compares the file with the routes.
  const reads = Object.values(routeCaches.hub).flat();
  const served = new Set([
    ...reads.map((path) => `GET /v1${path}`),
    "POST /v1/submitMessage",
    "POST /v1/validateMessage",
  ]);
  expect(Object.values(HUB_METHODS).filter((request) => !served.has(request))).toEqual([]);
});

test("the replacement of a removed method is a method, and no removed one is", () => {
  for (const [name, { instead }] of Object.entries(FORMER_METHODS)) {
    expect([name, Object.hasOwn(SDK_METHODS, name)]).toEqual([name, false]);
    if (instead !== undefined)
      expect([instead, Object.hasOwn(SDK_METHODS, instead)]).toEqual([instead, true]);
  }
});
