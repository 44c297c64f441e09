import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalUrl } from "../../src/http/request/canonical-url.ts";

describe("canonicalUrl", () => {
  test("does not change a canonical URL, whatever its query contains", () => {
    const url = "http://localhost:8080/v2/svc/feed?parent_urls=https://a.b//c%zz";
    expect(canonicalUrl(url)).toEqual({ url, path: "/v2/svc/feed", wellFormed: true });
  });

  test.each([
    ["http://localhost//v2/svc///user/?fid=3", "/v2/svc/user/", "http://localhost/v2/svc/user/?fid=3"],
    ["http://localhost/v2/svc/%75%73er", "/v2/svc/user", "http://localhost/v2/svc/user"],
    ["http://localhost/a%2fb", "/a%2Fb", "http://localhost/a%2Fb"],
    // A host that is shorter than Elysia expects, and no host.
    ["http://x/v2/svc/user?fid=3", "/v2/svc/user", "http://localhost/v2/svc/user?fid=3"],
    ["/v2/svc/user?u=http://a//b", "/v2/svc/user", "http://localhost/v2/svc/user?u=http://a//b"],
  ])("%s", (input, path, url) => {
    expect(canonicalUrl(input)).toEqual({ url, path, wellFormed: true });
  });

  test.each(["/%", "/%z1", "/%E0%A4%A", "/a%ff"])("reports that %s is not well formed", (path) => {
    expect(canonicalUrl(`http://localhost${path}`).wellFormed).toBe(false);
  });

  test("returns a path that is its own canonical form, for any path", () => {
    const piece = fc.constantFrom("/", "//", "a", "B", "%", "%2F", "%41", "%7e", "%zz", ".", "?", "é");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { url, path } = canonicalUrl(`http://localhost:8080/${pieces.join("")}`);
        expect(path.startsWith("/")).toBe(true);
        expect(path).not.toContain("//");
        expect(canonicalUrl(url).path).toBe(path);
      }),
    );
  });
});
