import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodePage } from "../../src/previews/parse/charset.ts";
import { oembedOf } from "../../src/previews/parse/oembed.ts";
import { parsePage } from "../../src/previews/parse/page.ts";
import { previewUrlOf } from "../../src/previews/preview-url.ts";

const URL_OF_PAGE = "https://site.example/a/page";
const parse = (head: string, rest = "<body></body>") =>
  parsePage(`<!doctype html><html><head>${head}</head>${rest}</html>`, URL_OF_PAGE);

describe("the URL of a preview", () => {
  test("http is tried as https, without the fragment", () => {
    expect(previewUrlOf("http://Site.example:80/a?b=1#c")).toEqual({
      href: "https://site.example/a?b=1",
      host: "site.example",
    });
  });

  test.each([
    "https://127.0.0.1/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://[::1]/",
    "https://user:pass@site.example/",
    "https://site.example:8443/",
    "http://site.example:443/",
    "https://localhost/",
    // Another name of the same host, which would count as a host of its own.
    "https://site.example./",
    "ftp://site.example/",
    "javascript:alert(1)",
    "no url",
  ])("%s is never fetched", (text) => {
    expect(previewUrlOf(text)).toBeUndefined();
  });

  test("one of more than 2,048 characters is never fetched", () => {
    expect(previewUrlOf(`https://site.example/${"a".repeat(2048)}`)).toBeUndefined();
  });

  test("any text gives https on the default port or nothing", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc
            .tuple(fc.constantFrom("http://", "https://", "https://a."), fc.string())
            .map((parts) => parts.join("")),
        ),
        (text) => {
          const url = previewUrlOf(text);
          if (url) expect(url.href).toStartWith(`https://${url.host}/`);
          if (url) expect(previewUrlOf(url.href)).toEqual(url);
        },
      ),
    );
  });
});

describe("the head of a page", () => {
  test("Open Graph takes precedence over the names of others and the title, with entities decoded", () => {
    const { html } = parse(`<title>Title</title><meta name="description" content="Plain">
      <meta property="og:title" content="A &amp; B &#x1F600;"><meta property="og:site_name" content="Site">
      <meta property="og:url" content="/canonical"><link rel="shortcut icon" href="/f.ico">
      <meta property="og:image" content="/one.png"><meta property="og:image:width" content="1200"><meta property="og:image:alt" content="One">
      <meta property="og:image" content="https://cdn.example/two.png">`);
    expect(html).toEqual({
      ogTitle: "A & B 😀",
      ogDescription: "Plain",
      ogSiteName: "Site",
      ogUrl: "https://site.example/canonical",
      ogImage: [
        { url: "https://site.example/one.png", width: "1200", alt: "One" },
        { url: "https://cdn.example/two.png" },
      ],
      favicon: "https://site.example/f.ico",
    });
  });

  test("without Open Graph the title and the image for other sites are taken", () => {
    expect(
      parse(`<title> A
      title </title><meta name="twitter:image" content="/t.png">`).html,
    ).toEqual({
      ogTitle: "A title",
      ogImage: [{ url: "https://site.example/t.png" }],
    });
  });

  test("what follows the beginning of the body does not count, with or without its tag", () => {
    const planted = `<meta property="og:title" content="planted"><meta name="fc:miniapp" content="{}"><title>planted</title>`;
    expect(parse("<title>own</title>", `<body>${planted}</body>`).html).toEqual({ ogTitle: "own" });
    expect(parsePage(`<title>own</title><p>text</p>${planted}`, URL_OF_PAGE).html).toEqual({
      ogTitle: "own",
    });
  });

  test("URLs that no browser should open and invalid sizes are left out", () => {
    expect(
      parse(`<meta property="og:image" content="javascript:alert(1)"><meta property="og:url" content="data:text/html,x">
        <meta property="og:image" content="https://u:p@x.example/"><link rel="icon" href="file:///etc/passwd">`)
        .html,
    ).toEqual({});
  });

  test("text has no control characters, none that turn its direction, and a bounded length", () => {
    const { html } = parse(`<meta property="og:title" content="a\u0000b\u202ec${"x".repeat(5000)}">`);
    expect(html.ogTitle).toStartWith("a b c");
    expect(html.ogTitle?.length).toBeLessThanOrEqual(300);
  });

  test("text that is cut ends with a whole character", () => {
    for (const before of ["", "a"]) {
      const title =
        parse(`<meta property="og:title" content="${before}${"😀".repeat(400)}">`).html.ogTitle ?? "";
      expect([title.isWellFormed(), title.length]).toEqual([true, before === "" ? 300 : 299]);
    }
  });

  test("50,000 metas and 80,000 nested elements are read in bounded time", () => {
    const before = process.cpuUsage();
    const metas = `<meta property="og:image" content="https://x.example/i.png">`.repeat(50_000);
    expect(parse(metas).html.ogImage).toHaveLength(1);
    expect(parse("<template>".repeat(80_000)).html).toEqual({});
    expect(parse(`<meta property="og:title" content="${"&amp;".repeat(40_000)}">`).html.ogTitle?.length).toBe(
      300,
    );
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(8_000);
  });

  test("no page makes it throw, and what it finds fits", () => {
    const piece = fc.constantFrom(
      ...[
        "<meta ",
        "property=",
        "og:image",
        "og:title",
        'content="',
        '"',
        ">",
        "<head>",
        "<body>",
        "</",
        "<!--",
        "-->",
      ],
      ...[
        "<title>",
        "</title>",
        "<script>",
        "\u0000",
        "&#0;",
        "&amp",
        "fc:miniapp",
        "{}",
        "<link rel=icon href=",
        "\ud800",
      ],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (pieces) => {
        const { html } = parsePage(pieces.join(""), URL_OF_PAGE);
        for (const value of Object.values(html))
          if (typeof value === "string") expect(value.length).toBeLessThanOrEqual(2048);
      }),
      { numRuns: 200 },
    );
  });
});

describe("mini apps and frames", () => {
  const embed = {
    version: "1",
    imageUrl: "https://app.example/og.png",
    button: { title: "Play", action: { type: "launch_frame", name: "App", url: "https://app.example/play" } },
  };
  const shown = {
    version: "1",
    image: "https://app.example/og.png",
    frames_url: "https://app.example/play",
    title: "Play",
  };
  const quoted = JSON.stringify(embed).replaceAll('"', "&quot;");

  test("fc:miniapp", () => {
    expect(parse(`<meta name="fc:miniapp" content="${quoted}">`).frame).toEqual(shown);
  });

  test("fc:frame with the same JSON", () => {
    expect(
      parse(`<meta name="fc:frame" content="${quoted.replace("&quot;1&quot;", "&quot;next&quot;")}">`).frame,
    ).toEqual({
      ...shown,
      version: "next",
    });
  });

  test("fc:frame of the first kind", () => {
    expect(
      parse(`<meta property="fc:frame" content="vNext"><meta property="fc:frame:image" content="/f.png">
        <meta property="fc:frame:post_url" content="/post"><meta property="fc:frame:button:1" content="Go">
        <meta property="fc:frame:button:2" content="Open"><meta property="fc:frame:button:2:action" content="link">
        <meta property="fc:frame:button:2:target" content="https://x.example/"><meta property="fc:frame:input:text" content="Say">`)
        .frame,
    ).toEqual({
      version: "vNext",
      image: "https://site.example/f.png",
      frames_url: URL_OF_PAGE,
      post_url: "https://site.example/post",
      input: { text: "Say" },
      buttons: [
        { index: 1, title: "Go", action_type: "post" },
        { index: 2, title: "Open", action_type: "link", target: "https://x.example/" },
      ],
    });
  });

  test("anything else is not a frame", () => {
    for (const content of ["", "{", "[]", "null", "{}", "vNext", "&quot;x&quot;", "{&quot;imageUrl&quot;:1}"])
      expect(parse(`<meta name="fc:frame" content="${content}">`).frame).toBeUndefined();
  });
});

describe("oEmbed", () => {
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

  test("keeps the members of its type, and never HTML", () => {
    const found = oembedOf(
      bytes({
        type: "video",
        version: 1,
        title: "T",
        html: "<iframe src=evil>",
        width: 640,
        height: "360",
        extra: 1,
      }),
      URL_OF_PAGE,
    );
    expect(found).toMatchObject({
      type: "video",
      version: "1",
      title: "T",
      html: null,
      width: 640,
      height: 360,
    });
    expect(found).not.toHaveProperty("extra");
  });

  test("members of other types than text and numbers are left out", () => {
    const odd = { toString: 1, valueOf: 1 };
    for (const value of [odd, [1], true, null])
      expect(
        oembedOf(
          bytes({ type: "link", version: value, cache_age: value, thumbnail_width: value }),
          URL_OF_PAGE,
        ),
      ).toMatchObject({ version: "1.0", cache_age: null, thumbnail_width: null });
  });

  test("ignores anything else", () => {
    for (const value of [null, 1, [], {}, { type: "script" }, { type: ["rich"] }])
      expect(oembedOf(bytes(value), URL_OF_PAGE)).toBeUndefined();
    expect(oembedOf(Buffer.from("<xml>"), URL_OF_PAGE)).toBeUndefined();
  });
});

describe("the text of a page", () => {
  test("follows the header, then a meta, and survives a wrong one", () => {
    const latin = Buffer.from("<meta charset=windows-1251><title>\xcf\xf0\xe8\xe2\xe5\xf2</title>", "latin1");
    expect(decodePage(latin, "text/html")).toContain("Привет");
    expect(decodePage(latin, "text/html; charset=windows-1251")).toContain("Привет");
    expect(decodePage(Buffer.from("<meta charset=nonsense>é"), "text/html; charset=x-unknown")).toContain(
      "é",
    );
    expect(decodePage(Buffer.from("\xff\xfeh\x00i\x00", "latin1"), "text/html; charset=utf-8")).toBe("hi");
    expect(decodePage(latin, `text/html; charset = " windows-1251"`)).toContain("Привет");
    // Would take an hour if its spaces could be divided in more than one way.
    expect(decodePage(latin, `text/html; charset=${" ".repeat(2 ** 20)}!`)).toContain("Привет");
    expect(decodePage(Buffer.from("\x83e\x83X\x83g", "latin1"), "text/html; charset=Shift_JIS")).toBe(
      "テスト",
    );
    expect(decodePage(Buffer.from("caf\xe9", "latin1"), "text/html; charset=utf-8")).toBe("caf�");
  });
});
