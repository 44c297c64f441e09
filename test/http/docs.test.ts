import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningHttp, runHttp } from "../support/http.ts";
import { sampleRoutes } from "./sample-routes.ts";

let http: RunningHttp;
beforeAll(() => {
  http = runHttp({ plugins: sampleRoutes() });
});
afterAll(() => http[Symbol.asyncDispose]());

test.each(["/docs", "/docs/"])("%s is a page that loads nothing from another host", async (path) => {
  const response = await fetch(http.url + path);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const html = await response.text();
  expect(html).toContain("<title>Svc API</title>");
  expect(html).not.toMatch(/https?:|\/\/[a-z]/i);
  expect(html).not.toMatch(/<script>|<style|\son\w+=/i);
});

test("the page's policy allows only its own assets", async () => {
  const policy = (await fetch(`${http.url}/docs`)).headers.get("content-security-policy") ?? "";
  const directives = new Map(policy.split("; ").map((directive) => [directive.split(" ")[0], directive]));
  expect(directives.get("default-src")).toBe("default-src 'none'");
  expect(directives.get("script-src")).toBe("script-src 'self'");
  expect(directives.get("connect-src")).toBe("connect-src 'self'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

test("serves every asset of the page with the expected content type", async () => {
  const html = await (await fetch(`${http.url}/docs/`)).text();
  const assets = [...html.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  expect(assets).toHaveLength(5);
  for (const asset of assets) {
    const response = await fetch(http.url + asset);
    const expected = asset.endsWith(".js")
      ? "text/javascript"
      : asset.endsWith(".css")
        ? "text/css"
        : "image/png";
    expect(response.headers.get("content-type")).toStartWith(expected);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await response.bytes()).byteLength).toBeGreaterThan(100);
  }
});

test("the page reads this server's document and uses no external validator", async () => {
  const script = await (await fetch(`${http.url}/docs/init.js`)).text();
  expect(await (await fetch(`${http.url}/docs`)).text()).toContain('data-document="/docs/openapi/svc.json"');
  expect(script).toContain("dataset.document");
  expect(script).toContain("validatorUrl: null");
  expect(script).not.toMatch(/https?:/);
});
