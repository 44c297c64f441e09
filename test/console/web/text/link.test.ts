import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodePunycode, hostText } from "../../../../src/console/web/text/host-name.ts";
import { imageUrl, isPicture, readLink } from "../../../../src/console/web/text/link.ts";
import { until } from "../../../support/manual-time.ts";

const shown = (host: string) => hostText(new URL(`https://${host}/`).host);

describe("decodePunycode", () => {
  test("decodes the samples of RFC 3492", () => {
    expect(decodePunycode("ihqwcrb4cv8a8dqg056pqjye")).toBe("他们为什么不说中文");
    expect(decodePunycode("Proprostnemluvesky-uyb24dma41a")).toBe("Pročprostěnemluvíčesky");
    expect(decodePunycode("b1abfaaepdrnnbgefbadotcwatmq2g4l")).toBe("почемужеонинеговорятпорусски");
  });

  test("decodes what the parser of URLs encodes, and never fails on other texts", () => {
    const letters = fc
      .array(fc.constantFrom(..."abzßéяжλあ漢한ש"), { minLength: 1, maxLength: 12 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(letters, (label) => {
        if (!URL.canParse(`http://${label}.example/`)) return;
        const [encoded = ""] = new URL(`http://${label}.example/`).hostname.split(".");
        if (encoded.startsWith("xn--")) expect(decodePunycode(encoded.slice(4))).toBe(label.normalize("NFC"));
      }),
    );
    fc.assert(fc.property(fc.string({ maxLength: 80 }), (text) => void decodePunycode(text)));
  });
});

describe("hostText", () => {
  test("shows a name of one script as it is read", () => {
    for (const host of [
      "münchen.de",
      "пример.рф",
      "日本語.jp",
      "παράδειγμα.ελ",
      "straße.example",
      "demo.example:8080",
    ]) {
      expect(shown(host)).toBe(host);
    }
  });

  test("shows punycode where scripts mix or letters imitate others", () => {
    for (const host of [
      "аррӏе.com",
      "pаypal.example",
      "ɑpple.com",
      "gοοgle.com",
      "applеё.рф",
      "pay·pal.example",
    ]) {
      expect(shown(host)).toContain("xn--");
    }
  });

  test("always is a name of the same host", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), (label) => {
        if (!URL.canParse(`https://${label}.example/`)) return;
        const { host } = new URL(`https://${label}.example/`);
        expect(new URL(`https://${hostText(host)}/`).host).toBe(host);
      }),
    );
  });
});

describe("readLink", () => {
  test("has the host that it goes to, without user name and password", () => {
    expect(readLink("https://bank.example@evil.example/login?x#y")).toEqual({
      href: "https://evil.example/login?x#y",
      host: "evil.example",
      rest: "/login?x#y",
    });
    expect(readLink("https://demo.example")).toEqual({
      href: "https://demo.example/",
      host: "demo.example",
      rest: "",
    });
  });

  test("has a host with foreign letters in punycode until what reads it is loaded", async () => {
    const link = () => readLink("https://xn--bcher-kva.example/")?.host;
    // Another test of this process may have loaded it.
    expect(["xn--bcher-kva.example", "bücher.example"]).toContain(link() ?? "");
    await until(() => link() === "bücher.example");
  });

  test("refuses other schemes, relative addresses, text without a host, and more than 2,048 characters", () => {
    const refused = [
      "javascript:alert(1)",
      "data:text/html,x",
      "//host",
      "/path",
      "https://",
      "https:///",
      "ftp://a",
      "",
      " https://a",
    ];
    for (const text of [...refused, `https://a.example/${"x".repeat(2048)}`])
      expect(readLink(text)).toBeUndefined();
  });

  test("takes any text and gives only http and https", () => {
    const anyText = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.string().map((text) => `https://${text}`),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const link = readLink(text);
        if (!link) return;
        expect(["http:", "https:"]).toContain(new URL(link.href).protocol);
        expect(link.rest.length).toBeLessThanOrEqual(257);
      }),
    );
  });
});

describe("imageUrl", () => {
  test("is only https, and not an SVG", () => {
    expect(imageUrl("https://a.example/x.png")).toBe("https://a.example/x.png");
    for (const url of [
      "http://a.example/x.png",
      "https://a.example/x.svg",
      "https://a.example/x.SVG?y",
      "data:image/png;base64,AA",
      "",
      null,
    ]) {
      expect(imageUrl(url)).toBeUndefined();
    }
  });

  test("offers as pictures what has the extension of one", () => {
    expect(isPicture("https://a.example/x.JPG?size=2")).toBe(true);
    expect(isPicture("https://a.example/x")).toBe(false);
    expect(isPicture("http://a.example/x.jpg")).toBe(false);
  });
});
