import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { acceptingNamesUnder, createUrlGuard, findLoopbackTarget } from "../../src/net/guard.ts";

const ORIGIN = "http://127.0.0.1:28080";
const TARGET = { origin: ORIGIN, pathPrefix: "/receivers/" };
const GOOD = `${ORIGIN}/receivers/3-abc`;

const guardOf = (loopbackTargets: readonly (typeof TARGET)[]) =>
  createUrlGuard({
    allowCidrs: [],
    allowHttp: false,
    loopbackTargets,
    resolve: async () => {
      throw new Error("no name may be looked up");
    },
  });

describe("own targets", () => {
  test("a guard passes exactly one segment after the prefix of a target, without a look-up", async () => {
    const checked = await guardOf([TARGET]).check(GOOD);
    expect(checked).toMatchObject({ ok: true, value: { address: "127.0.0.1", family: 4 } });
  });

  test("without a target, loopback stays closed", async () => {
    expect((await guardOf([]).check(GOOD)).ok).toBeFalse();
  });

  test.each([
    `${ORIGIN}/receivers/`,
    `${ORIGIN}/receivers`,
    `${ORIGIN}/receivers/a/b`,
    `${ORIGIN}/receivers/..`,
    `${ORIGIN}/receivers/../ready`,
    `${ORIGIN}/receivers/%2e%2e`,
    `${ORIGIN}/receivers/..%2fready`,
    `${ORIGIN}/receivers/a?b=c`,
    `${ORIGIN}/receivers/a#b`,
    `${ORIGIN}/receivers/a%20b`,
    `${ORIGIN}/receivers/${"a".repeat(65)}`,
    `${ORIGIN}/Receivers/a`,
    `${ORIGIN}//receivers/a`,
    `${ORIGIN}/v2/svc/user`,
    `${ORIGIN}0/receivers/a`,
    "http://127.0.0.1/receivers/a",
    "http://127.0.0.1:2808/receivers/a",
    "https://127.0.0.1:28080/receivers/a",
    "HTTP://127.0.0.1:28080/receivers/a",
    "http://127.0.0.1:028080/receivers/a",
    "http://2130706433:28080/receivers/a",
    "http://localhost:28080/receivers/a",
    "http://[::1]:28080/receivers/a",
    "http://[::ffff:127.0.0.1]:28080/receivers/a",
    "http://user@127.0.0.1:28080/receivers/a",
    "http://127.0.0.1:28080@evil.example/receivers/a",
    "http://127.0.0.1:28080\\@evil.example/receivers/a",
    ` ${GOOD}`,
    `${GOOD}\n`,
    `${GOOD}\t`,
  ])("%j is refused", async (url) => {
    expect((await guardOf([TARGET]).check(url)).ok).toBeFalse();
  });

  test("what passes is the text that is called", () => {
    const odd = fc.constantFrom(
      "/",
      ".",
      "..",
      "%2e",
      "%2F",
      "\\",
      "?",
      "#",
      "@",
      ":",
      "a",
      "\u0000",
      "é",
      " ",
    );
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 8 }), (parts) => {
        const text = `${ORIGIN}/receivers/${parts.join("")}`;
        const url = findLoopbackTarget(text, [TARGET]);
        if (url) expect([url.href, url.pathname]).toEqual([text, `/receivers/${parts.join("")}`]);
      }),
    );
  });
});

describe("names that do not resolve", () => {
  const guard = acceptingNamesUnder(".demo.example", guardOf([]));
  test.each(["https://bread.demo.example/", "https://a.b.demo.example/app?x=1"])("%s passes", async (url) => {
    expect((await guard.check(url)).ok).toBeTrue();
  });
  test.each([
    "http://bread.demo.example/",
    "https://demo.example/",
    "https://evildemo.example/",
    "https://bread.demo.example.evil.test/",
    "https://user@bread.demo.example/",
    "https://bread.demo.example:0/",
    "https://127.0.0.1/.demo.example",
  ])("%s is left to the guard", async (url) => {
    expect((await guard.check(url)).ok).toBeFalse();
  });
});
