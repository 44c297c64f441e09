import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { operationsOf } from "../../../../src/console/operation-route.ts";
import { callLink, readCallLink } from "../../../../src/console/web/call/call-link.ts";
import { codeOf, streamFiltersOf } from "../../../../src/console/web/call/code.ts";
import {
  callOf,
  exampleTexts,
  fieldsOf,
  operationOf,
  problemsOf,
  textsOf,
} from "../../../../src/console/web/call/form.ts";
import type { OperationForm } from "../../../../src/console/web/call/operation.ts";
import { startTestApi } from "../../../support/api.ts";

let lines: ReturnType<typeof operationsOf>["lines"];
let formOf: (id: string) => OperationForm;

beforeAll(async () => {
  await using api = await startTestApi({ compatPrefixes: ["farcaster"] });
  const found = operationsOf(api.document, ["/v2/farcaster"]);
  ({ lines } = found);
  formOf = (id) => found.formOf(id) as OperationForm;
});

const MAX_FORM_BYTES = 6_000;

describe("the form of an operation", () => {
  test("is there for every native operation, without a reference, and takes at most 6 KB of the network", () => {
    expect(lines.length).toBeGreaterThan(150);
    expect(lines.filter(({ path }) => path.startsWith("/v2/farcaster"))).toEqual([]);
    for (const { id } of lines) {
      const text = JSON.stringify(formOf(id));
      expect([id, text.includes("$ref")]).toEqual([id, false]);
      expect(Bun.gzipSync(text).length).toBeLessThan(MAX_FORM_BYTES);
    }
  });

  test("check 30: filled with the example of each operation has no problem, and its call leads back to the same form", () => {
    for (const { id } of lines) {
      const form = formOf(id);
      const fields = fieldsOf(form);
      const texts = exampleTexts(form);
      const problems = Object.keys(problemsOf(fields, texts));
      // Some have no example of what only a caller can have.
      if (problems.some((key) => (texts[key] ?? "") === "")) continue;
      expect([id, problems]).toEqual([id, []]);
      const call = callOf(form, texts);
      expect([id, operationOf(lines, call)?.id]).toEqual([id, id]);
      const typed = Object.fromEntries(Object.entries(textsOf(form, call)).filter(([, text]) => text !== ""));
      expect([id, callOf(form, typed)]).toEqual([id, call]);
    }
  });

  test("says which bound a value is beyond, before the node is asked", () => {
    const fields = fieldsOf(formOf("getFeedFollowing"));
    const problems = (texts: Record<string, string>) => problemsOf(fields, texts);
    expect(problems({})).toEqual({ "query.fid": "Required." });
    expect(problems({ "query.fid": "3", "query.limit": "101" })).toEqual({ "query.limit": "At most 100." });
    expect(problems({ "query.fid": "-1" })).toEqual({ "query.fid": "At least 0." });
    expect(problems({ "query.fid": "alice" })).toEqual({ "query.fid": "A whole number." });
    const body = fieldsOf(formOf("createWebhook"));
    expect(problemsOf(body, { "body.subscription": "{" })["body.subscription"]).toBe("This is not JSON yet.");
  });
});

describe("a link of a call", () => {
  test("leaves out what is secret, of the query and of any depth of the body, and no other key", () => {
    const link = callLink({
      method: "POST",
      path: "/v2/svc/x?fid=3&token=abc&next_token=d&channel_key=art",
      body: {
        name: "a",
        secret: "s",
        inner: [{ api_key: "k", public_key: "0x1", url: "u" }],
        private_key: "p",
      },
    });
    expect(readCallLink(link.slice(link.indexOf("#")))).toEqual({
      method: "POST",
      path: "/v2/svc/x?fid=3&channel_key=art",
      body: { name: "a", inner: [{ public_key: "0x1", url: "u" }] },
    });
  });

  test("of any text is read without a fault, and only a method with a path is a call", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = readCallLink(`#${text}`);
        expect(found === undefined || found.path.startsWith("/")).toBe(true);
      }),
    );
    expect(readCallLink("#call=GET%20javascript:alert(1)")).toBeUndefined();
    expect(readCallLink("#call=GET%20/v2/svc/user&body=%7B")).toEqual({
      method: "GET",
      path: "/v2/svc/user",
    });
  });

  test("of any query and body without secrets has the same call", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("fid", "q", "limit"), fc.string()),
        fc.dictionary(fc.constantFrom("name", "text", "fids"), fc.jsonValue({ maxDepth: 0 })),
        (query, body) => {
          const search = new URLSearchParams(query).toString();
          const path = search === "" ? "/v2/svc/user" : `/v2/svc/user?${search}`;
          const link = callLink({ method: "PUT", path, body });
          expect(readCallLink(link.slice(link.indexOf("#")))).toEqual({
            method: "PUT",
            path,
            body: JSON.parse(JSON.stringify(body)),
          });
        },
      ),
    );
  });
});

test("a read of what happens becomes the filter of a stream, any other does not", () => {
  const filters = (path: string) => streamFiltersOf({ method: "GET", path: `/v2/svc${path}` }, "svc");
  expect(filters("/feed/user/casts?fid=3&limit=5")).toBe("kinds=cast.created&author_fids=3");
  expect(filters("/user/followers?fid=3")).toBe("kinds=follow.created&target_fids=3");
  expect(filters("/cast/search?q=a.b")).toBe(
    "kinds=cast.created&text=(%3Fi)a%5C.b".replace("(", "(").replace("%5C", "%5C"),
  );
  expect(filters("/stream?kinds=cast.created")).toBe("kinds=cast.created");
  expect(filters("/feed/user/casts")).toBeUndefined();
  expect(filters("/feed/trending")).toBeUndefined();
});

test("a file of requests has no place for a variable of the reader in what a link from a stranger has filled in", () => {
  const form = formOf("createWebhook");
  const site = { origin: "http://127.0.0.1:8080", service: "svc", domain: "Svc", headerPrefix: "X-Svc-" };
  const body = { name: "{{secret}} {{{$processEnv HOME}}}", inner: { text: "}}{{" } };
  const call = { method: "POST", path: "/v2/svc/webhook?q=%7B%7Bsecret%7D%7D", body } as const;
  const file = codeOf(call, form, { ...site, needsApiKey: true }).find(
    ({ language }) => language === ".http",
  );
  const [head = "", sent = ""] = file?.text.split("\n\n") ?? [];
  expect(head.match(/\{\{/g)).toHaveLength(1);
  expect(sent).not.toContain("{{");
  expect(JSON.parse(sent)).toEqual(body);
});
