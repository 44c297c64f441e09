import { afterAll, expect, test } from "bun:test";
import { isObject, type JsonObject, type OpenApiDocument } from "../../src/http/openapi/document.ts";
import { startTestApi } from "../support/api.ts";

const api = await startTestApi({ compatPrefixes: ["farcaster"] });
afterAll(() => api[Symbol.asyncDispose]());

const page = async (query = "") => (await fetch(`${api.url}/docs${query}`)).text();
const linksOf = (html: string) => [...html.matchAll(/<a href="\/docs\?api=(\w+)"/g)].map(([, id]) => id);
const documentOf = async (id: string) =>
  (await (await fetch(`${api.url}/docs/openapi/${id}.json`)).json()) as OpenApiDocument;
const ids = ["svc", "farcaster", "v1"];
const documents = await Promise.all(ids.map(documentOf));

const operationsOf = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {}).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation: operation as JsonObject,
    })),
  );

test("the page links the documents of all surfaces and shows that of the query, else the first", async () => {
  expect(linksOf(await page())).toEqual(ids);
  for (const [query, shown] of [
    ["", "svc"],
    ["?api=farcaster", "farcaster"],
    ["?api=v1", "v1"],
    ["?api=%3Cscript%3E", "svc"],
  ] as const) {
    const html = await page(query);
    expect(html).toContain(`data-document="/docs/openapi/${shown}.json"`);
    expect(html).toContain(`<a href="/docs?api=${shown}" aria-current="page"`);
  }
  expect((await fetch(`${api.url}/docs/openapi/other.json`)).status).toBe(404);
});

test("the documents have every path that responds, aliases included, each in one of them", () => {
  const shown = documents.flatMap((document) => operationsOf(document).map(({ name }) => name));
  const { plugins, hubPlugins } = api;
  const routes = [
    ...plugins.plugins.flatMap((one) => one.routes.map((route) => ["/v2/svc", route] as const)),
    ...plugins.compatPlugins().flatMap((one) => one.routes.map((route) => ["/v2/farcaster", route] as const)),
    ...hubPlugins.flatMap((one) => one.routes.map((route) => ["/v1", route] as const)),
  ];
  const served = routes
    .filter(([, { method }]) => method !== "ALL")
    .map(([base, { method, path }]) => `${method.toLowerCase()} ${base}${path.replace(/:(\w+)/g, "{$1}")}`);
  const ofApi = shown.filter((name) => / \/v[12]\/(?!channel(\/|$))/.test(name));
  expect(ofApi.toSorted()).toEqual(served.toSorted());
  // Health, status and metrics are in the first.
  expect(shown.filter((name) => !ofApi.includes(name))).toContain("get /ready");
});

test("an alias is one line that names its operation", () => {
  const [native] = documents;
  const { post, get } = (native?.paths["/v2/svc/followers"] ?? {}) as JsonObject;
  expect(post).toBeUndefined();
  expect(get).toEqual({
    tags: ["Follows"],
    summary: "The same as /v2/svc/user/followers (getFollowers)",
    responses: { default: { description: "The same" } },
  });
});

test("groups are in the order in which developers look for them, those of operators last", () => {
  const [native = [], compat = []] = documents.map(({ tags }) =>
    (tags as JsonObject[]).map(({ name }) => String(name)),
  );
  for (const names of [native, compat])
    expect(names.slice(0, 4)).toEqual(["Users", "Casts", "Feeds", "Channels"]);
  expect(native.at(-1)).toBe("Operations");
});

test("tags have no prefix, and every reference is to a component of the same document", () => {
  for (const document of documents) {
    const tags = (document.tags as JsonObject[]).map(({ name }) => String(name));
    expect(tags.filter((name) => name.includes(":"))).toEqual([]);
    const used = operationsOf(document).flatMap(({ operation }) => operation.tags as string[]);
    expect(new Set(tags)).toEqual(new Set(used));
    const references = JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g);
    for (const [, kind = "", name = ""] of references) {
      expect(Object.keys(document.components[kind] as JsonObject)).toContain(name);
    }
  }
  const [native, compat, hub] = documents.map(({ components }) =>
    Object.keys(components.schemas as JsonObject),
  );
  expect(native).not.toContain("FarcasterUser");
  expect(compat).toContain("FarcasterUser");
  expect(hub).not.toContain("User");
});

test("the complete document is unchanged by them", async () => {
  const complete = (await (await fetch(`${api.url}/openapi.json`)).json()) as OpenApiDocument;
  expect(complete).toEqual(api.document);
  expect(Object.keys(complete.paths).length).toBeGreaterThan(200);
  expect((complete.paths["/v2/svc/followers"] as JsonObject | undefined)?.get).toBeUndefined();
});
