import { describe, expect, test } from "bun:test";
import { runHttp } from "../support/http.ts";
import { sampleRoutes } from "./sample-routes.ts";

const list = (header: string | null) => (header ?? "").split(",").map((item) => item.trim().toLowerCase());

const preflight = (url: string, origin: string, headers: string) =>
  fetch(url, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": headers,
    },
  });

describe("by default", () => {
  test("any origin may read, without credentials and without Vary: origin", async () => {
    await using http = runHttp({ plugins: sampleRoutes() });
    for (const path of ["/v2/svc/user?fid=3", "/v2/svc/user", "/nowhere", "/health"]) {
      const { headers } = await fetch(http.url + path, { headers: { origin: "https://app.example" } });
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-allow-credentials")).toBeNull();
      expect(headers.get("vary") ?? "").not.toMatch(/origin|\*/);
      expect(list(headers.get("access-control-expose-headers"))).toEqual([
        "x-request-id",
        "etag",
        "retry-after",
        "ratelimit",
        "ratelimit-policy",
        "x-error-code",
        "x-partial",
        "x-events-missing",
        "x-oldest-event-id",
        "x-head-event-id",
        "idempotent-replayed",
        "x-svc-node",
        "x-svc-write",
        "x-svc-message",
      ]);
    }
  });

  test("a preflight allows exactly the methods and headers that the API uses", async () => {
    await using http = runHttp({ plugins: sampleRoutes() });
    const response = await preflight(http.api("/frame/app/"), "https://app.example", "x-evil, x-svc-fid");
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    const { headers } = response;
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect(headers.get("access-control-max-age")).toBe("86400");
    expect(list(headers.get("access-control-allow-methods"))).toEqual([
      "get",
      "post",
      "put",
      "patch",
      "delete",
    ]);
    expect(list(headers.get("access-control-allow-headers"))).toEqual([
      "x-svc-fid",
      "x-svc-op",
      "x-svc-signed-at",
      "x-svc-nonce",
      "x-svc-signature",
      "content-type",
      "authorization",
      "x-api-key",
      "x-request-id",
      "if-none-match",
      "prefer",
      "idempotency-key",
      "x-strict-from-id",
    ]);
  });

  test("the signed headers follow the service's name", async () => {
    await using http = runHttp({ serviceName: "hub" });
    const { headers } = await preflight(http.api("/webhook"), "https://app.example", "x-hub-fid");
    expect(list(headers.get("access-control-allow-headers"))).toContain("x-hub-signature");
  });
});

describe("with listed origins", () => {
  const origins = { cors_origins: ["https://app.example", "https://other.example"] };

  test("a listed origin is allowed, with Vary: origin", async () => {
    await using http = runHttp({ plugins: sampleRoutes(), http: origins });
    for (const response of [
      await fetch(http.api("/user?fid=3"), { headers: { origin: "https://other.example" } }),
      await preflight(http.api("/user"), "https://other.example", "content-type"),
    ]) {
      expect(response.headers.get("access-control-allow-origin")).toBe("https://other.example");
      expect(response.headers.get("vary")).toMatch(/\borigin$/);
    }
  });

  test("an unlisted origin is not allowed", async () => {
    await using http = runHttp({ plugins: sampleRoutes(), http: origins });
    for (const origin of ["https://evil.example", "null", "https://app.example.evil"]) {
      const response = await fetch(http.api("/user?fid=3"), { headers: { origin } });
      expect(response.status).toBe(200);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      const before = await preflight(http.api("/user"), origin, "content-type");
      expect(before.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});
