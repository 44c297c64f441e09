import type { Call, Site, Snippet } from "../data/call.ts";
import { writeFilters } from "../stream/filters.ts";
import type { OperationForm } from "./operation.ts";

/** More ways to copy a call as code, in addition to those of every view. */

const json = (value: unknown) => JSON.stringify(value);

function queryOf(path: string): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(path.split("?")[1] ?? ""));
}

/** Returns code for the node's client package, whose paths always contain `svc`, whatever the service's name. */
function clientCode(call: Call, form: OperationForm, site: Site): string | undefined {
  const base = `/v2/${site.service}/`;
  if (!form.path.startsWith(base) || form.isStream) return undefined;
  const template = `/v2/svc/${form.path.slice(base.length)}`;
  const [bare = ""] = call.path.split("?");
  const given = new Map(Object.entries(queryOf(call.path)));
  // Lists and numbers in the types of the client.
  const query = Object.fromEntries(
    form.parameters.flatMap(({ name, in: place, schema }) => {
      const text = given.get(name);
      if (place !== "query" || text === undefined) return [];
      const scalar = (type: string | undefined, one: string) =>
        type === "integer" || type === "number" ? Number(one) : type === "boolean" ? one === "true" : one;
      const value =
        schema.type === "array"
          ? text.split(",").map((one) => scalar(schema.items?.type, one))
          : scalar(schema.type, text);
      return [[name, value]];
    }),
  );
  const segments = bare.split("/");
  const path = Object.fromEntries(
    form.path.split("/").flatMap((part, at) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      return name === undefined ? [] : [[name, decodeURIComponent(segments[at] ?? "")]];
    }),
  );
  const params = {
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(path).length > 0 && { path }),
  };
  const init = [
    ...(Object.keys(params).length > 0 ? [`params: ${json(params)}`] : []),
    ...(call.body === undefined ? [] : [`body: ${json(call.body)}`]),
  ];
  const isSigned = call.op !== undefined;
  const options = [
    `baseUrl: ${json(site.origin)}`,
    ...(site.service === "svc" ? [] : [`service: ${json(site.service)}`]),
    ...(site.needsApiKey || form.access === "key" ? ["apiKey: process.env.SECRET!"] : []),
    ...(isSigned ? ["owner: { fid: Number(process.env.FID), signer }"] : []),
  ];
  return [
    `import { createClient } from "@svc/client";`,
    ...(isSigned
      ? [
          `import { privateKeyToAccount } from "viem/accounts";`,
          "",
          `const signer = privateKeyToAccount(process.env.CUSTODY_KEY as \`0x\${string}\`);`,
        ]
      : [""]),
    `const client = createClient({ ${options.join(", ")} });`,
    `const { data: body } = await client.${call.method}(${json(template)}${init.length === 0 ? "" : `, { ${init.join(", ")} }`});`,
  ].join("\n");
}

function python(call: Call, form: OperationForm, site: Site): string {
  const headers = [
    ...(site.needsApiKey || form.access === "key" ? ['"x-api-key": os.environ["SECRET"]'] : []),
    ...(call.body === undefined ? [] : ['"content-type": "application/json"']),
  ];
  const lines = [
    json(site.origin + call.path),
    `method=${json(call.method)}`,
    ...(call.body === undefined ? [] : [`data=${json(json(call.body))}.encode()`]),
    ...(headers.length === 0 ? [] : [`headers={${headers.join(", ")}}`]),
  ];
  return `import json, os, urllib.request

request = urllib.request.Request(
${lines.map((line) => `    ${line},`).join("\n")}
)
with urllib.request.urlopen(request) as response:
    body = json.load(response)
print(json.dumps(body))`;
}

/**
 * Returns JSON whose texts contain no `{{…}}`: clients insert the reader's variables there, and the text may come from a stranger's link.
 */
const withoutPlaces = (text: string) => text.replaceAll("{{", "{\\u007b");

function httpFile(call: Call, form: OperationForm, site: Site): string {
  return [
    `${call.method} ${site.origin}${call.path}`,
    ...(site.needsApiKey || form.access === "key" ? ["x-api-key: {{secret}}"] : []),
    ...(call.body === undefined
      ? []
      : ["content-type: application/json", "", withoutPlaces(JSON.stringify(call.body, null, 2))]),
    "",
  ].join("\n");
}

export function codeOf(call: Call, form: OperationForm, site: Site): readonly Snippet[] {
  const client = clientCode(call, form, site);
  const ofClient = client === undefined ? [] : [{ language: "Client", text: client }];
  // Python and request files have no way to sign.
  if (call.op !== undefined) return ofClient;
  return [
    ...ofClient,
    ...(form.isStream ? [] : [{ language: "Python", text: python(call, form, site) }]),
    { language: ".http", text: httpFile(call, form, site) },
  ];
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

type Watched = (query: Readonly<Record<string, string>>) => Parameters<typeof writeFilters>[0] | undefined;

const watching =
  (kinds: readonly string[], filter: string, parameter: string, change = (text: string) => text): Watched =>
  (query) => {
    const value = query[parameter];
    if (value === undefined || value === "") return undefined;
    return {
      kinds: kinds as Parameters<typeof writeFilters>[0]["kinds"],
      match: "all",
      values: { [filter]: [change(value)] },
    };
  };

const ofCasts = watching(["cast.created"], "author_fids", "fid");
const wholeHash = (query: Readonly<Record<string, string>>, filter: string, kinds: readonly string[]) =>
  /^0x[0-9a-f]{40}$/i.test(query.identifier ?? query.hash ?? "")
    ? watching(kinds, filter, query.identifier === undefined ? "hash" : "identifier")(query)
    : undefined;

/** Reads of the API that show past events, by their paths below the prefix. */
const WATCHED: Readonly<Record<string, Watched>> = {
  "/feed/user/casts": ofCasts,
  "/feed/user/replies_and_recasts": ofCasts,
  "/feed/user/popular": ofCasts,
  "/reaction/user": watching(["reaction.created"], "author_fids", "fid"),
  "/user": watching(["user.updated"], "author_fids", "fid"),
  "/user/followers": watching(["follow.created"], "target_fids", "fid"),
  "/user/following": watching(["follow.created"], "author_fids", "fid"),
  "/notifications": watching(["cast.created"], "mentioned_fids", "fid"),
  "/cast/search": watching(["cast.created"], "text", "q", (text) => `(?i)${escaped(text)}`),
  "/cast/conversation": (query) => wholeHash(query, "parent_hashes", ["cast.created"]),
  "/cast/quotes": (query) => wholeHash(query, "embedded_cast_hashes", ["cast.created"]),
  "/reaction/cast": (query) => wholeHash(query, "target_cast_hashes", ["reaction.created"]),
};

/** Returns the stream filters, as a query, that match what a call reads; undefined if no filter does. */
export function streamFiltersOf(call: Call, service: string): string | undefined {
  const [bare = "", search = ""] = call.path.split("?");
  const route = bare.slice(`/v2/${service}`.length);
  if (route === "/stream" && call.method === "GET") return search;
  if (call.method !== "GET") return undefined;
  const filters = WATCHED[route]?.(queryOf(call.path));
  return filters && writeFilters(filters);
}
