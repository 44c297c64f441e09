import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createUrlGuard, type UrlGuardOptions } from "../../src/net/guard.ts";
import type { Resolve } from "../../src/net/resolve.ts";
import { startDnsServer } from "../support/dns.ts";
import { expectErr, expectOk } from "../support/result.ts";

const PUBLIC = "93.184.216.34";

/** Records of an attacker's or an internal zone; all other names do not exist. */
const ZONE: Record<string, readonly string[]> = {
  "good.example": [PUBLIC],
  "xn--bcher-kva.example": [PUBLIC],
  "six.example": ["2606:4700::1111"],
  "both.example": [PUBLIC, "2606:4700::1111"],
  "under_score.example": [PUBLIC],
  localhost: ["127.0.0.1", "::1"],
  "app.localhost": ["127.0.0.1"],
  "loop.example": ["127.0.0.1"],
  "loop6.example": ["::1"],
  "mixed.example": [PUBLIC, "10.0.0.7"],
  "mixed6.example": [PUBLIC, "fd00::7"],
  "mapped.example": ["::ffff:10.0.0.1"],
  "nat64.example": ["64:ff9b::a00:1"],
  "zero.example": ["0.0.0.0"],
  "metadata.google.internal": ["169.254.169.254"],
  "db.internal": ["10.1.2.3"],
  "azure.example": ["168.63.129.16"],
  intranet: ["192.168.1.10"],
  "odd.example": ["not an address"],
  "zoned.example": ["fe80::1%eth0"],
  "bare.example": [],
};

const zone = async (name: string): Promise<readonly string[]> => {
  const response = ZONE[name];
  if (!response) throw new Error("ENOTFOUND");
  return response;
};

const guardOf = (options: Partial<UrlGuardOptions> = {}) =>
  createUrlGuard({ allowCidrs: [], allowHttp: false, resolve: zone, ...options });

const verdict = async (url: string, options: Partial<UrlGuardOptions> = {}): Promise<string> => {
  const outcome = await guardOf(options).check(url);
  return outcome.ok ? outcome.value.address : outcome.error.kind;
};

const LONG = "a".repeat(2048);

const HOSTILE: Record<string, readonly string[]> = {
  malformed: [
    "",
    "https",
    "https:",
    "https://",
    "https:///good.example/",
    "https:good.example",
    "https:/good.example",
    "https:\\\\good.example\\",
    "https://good.example\\@loop.example/",
    "//good.example/",
    "/hook",
    "good.example",
    " https://good.example/",
    "https://good.example/ ",
    "https://good.example/a b",
    "https://good\t.example/",
    "https://good.example/\r\nHost: loop.example",
    "https://good.example/\0",
    "https://[::1",
    "https://[fe80::1%25eth0]/",
    "https://256.256.256.256/",
    "https://1.2.3.4.5/",
    "https://good.example:65536/",
    "https://good.example:-1/",
    "https://good.example:abc/",
    "https://exa mple.com/",
    "https://a..b/",
    "https://.good.example/",
    "https://good.example../",
    "https://xn--/",
    "https://a*b.example/",
    `https://${"a".repeat(64)}.example/`,
    `https://${"a.".repeat(127)}example/`,
    `https://a${"a.".repeat(123)}example/`,
    `https://good.example/${LONG}`,
    `https://good.example/${"a/../".repeat(500)}`,
    `https://good.example/${"ü".repeat(700)}`,
  ],
  scheme: [
    "http://good.example/",
    "HTTP://good.example/",
    "ftp://good.example/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "ws://good.example/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "unix:///var/run/docker.sock",
  ],
  credentials: [
    "https://user:pass@good.example/",
    "https://user@good.example/",
    "https://@good.example/",
    "https://:@good.example/",
    "https://good.example@127.0.0.1/",
  ],
  port: ["https://good.example:0/"],
  dns: [
    "https://nowhere.example/",
    "https://bare.example/",
    "https://path/",
    `https://${"a.".repeat(123)}example/`,
  ],
  address: [
    "https://127.0.0.1/",
    "https://127.0.0.1:8443/",
    "https://127.1/",
    "https://127.0.0.1./",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://017700000001/",
    "https://0177.0.0.1/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127。0。0。1/",
    "https://%31%32%37.0.0.1/",
    "https://0/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://2852039166/latest/meta-data/",
    "https://168.63.129.16/metadata",
    "https://100.100.100.200/",
    "https://192.0.0.192/",
    "https://198.18.0.1/",
    "https://192.0.2.1/",
    "https://203.0.113.5/",
    "https://224.0.0.1/",
    "https://240.0.0.1/",
    "https://255.255.255.255/",
    "https://[::]/",
    "https://[::1]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:8.8.8.8]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[::7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b:1::a00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001::1]/",
    "https://[2001:db8::1]/",
    "https://[fe80::1]/",
    "https://[fec0::1]/",
    "https://[fd00:ec2::254]/",
    "https://[fc00::1]/",
    "https://[ff02::1]/",
    "https://[4000::1]/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://app.localhost/",
    "https://%6c%6fcalhost/",
    "https://loop.example/",
    "https://loop6.example/",
    "https://mixed.example/",
    "https://mixed6.example/",
    "https://mapped.example/",
    "https://nat64.example/",
    "https://zero.example/",
    "https://metadata.google.internal/",
    "https://db.internal:5432/",
    "https://azure.example/",
    "https://intranet/",
    "https://odd.example/",
    "https://zoned.example/",
  ],
};

const GOOD: Record<string, string> = {
  "https://good.example": PUBLIC,
  "https://good.example/": PUBLIC,
  "HTTPS://GOOD.example/Hook?a=b#c": PUBLIC,
  "https://good.example./": PUBLIC,
  "https://good.example:8443/x": PUBLIC,
  "https://good.example:25/": PUBLIC,
  "https://bücher.example/ü": PUBLIC,
  "https://under_score.example/": PUBLIC,
  "https://both.example/": PUBLIC,
  "https://six.example/": "2606:4700::1111",
  "https://8.8.8.8/": "8.8.8.8",
  "https://[2606:4700:0:0::1111]:444/": "2606:4700::1111",
  "https://good.example/a@b": PUBLIC,
  [`https://good.example/${"a".repeat(2048 - 21)}`]: PUBLIC,
};

describe("the URL guard", () => {
  for (const [kind, urls] of Object.entries(HOSTILE)) {
    test.each(urls.map((url) => [url.slice(0, 80), url]))(`refuses (${kind}) %j`, async (_label, url) => {
      expect(await verdict(url)).toBe(kind);
    });
  }

  test.each(Object.entries(GOOD).map(([url, address]) => [url.slice(0, 80), url, address]))(
    "passes %j",
    async (_label, url, address) => {
      expect(await verdict(url)).toBe(address);
    },
  );

  test("refuses internal and missing names with the same text, which contains no address", async () => {
    const refusals = await Promise.all(
      ["https://db.internal/", "https://nowhere.example/"].map((url) => guardOf().check(url)),
    );
    const reasons = refusals.map((refusal) => expectErr(refusal).reason);
    expect(reasons[0]).toBe(reasons[1] as string);
    expect(reasons[0]).not.toMatch(/\d/);
  });

  test("returns the address to call and a host without a trailing dot", async () => {
    const outcome = expectOk(await guardOf().check("https://BOTH.example.:444/a?b"));
    expect(outcome.url.href).toBe("https://both.example:444/a?b");
    expect([outcome.address, outcome.family]).toEqual([PUBLIC, 4]);
    expect(outcome.addresses).toEqual([
      { address: PUBLIC, family: 4 },
      { address: "2606:4700::1111", family: 6 },
    ]);
  });

  test("returns only the first 16 addresses of a name", async () => {
    const many = Array.from({ length: 40 }, (_, at) => (at < 16 ? `8.8.8.${at}` : "10.0.0.1"));
    const outcome = expectOk(await guardOf({ resolve: async () => many }).check("https://many.example/"));
    expect(outcome.addresses.map((entry) => entry.address)).toEqual(many.slice(0, 16));
  });

  test("refuses this machine's own public address", async () => {
    const options = { ownAddresses: () => ["8.8.4.4", "2606:4700::1"] };
    expect(await verdict("https://8.8.4.4/", options)).toBe("address");
    expect(await verdict("https://[2606:4700:0::1]/", options)).toBe("address");
    expect(await verdict("https://8.8.8.8/", options)).toBe("8.8.8.8");
    expect(await verdict("https://8.8.4.4/", { ...options, allowCidrs: ["8.8.4.4/32"] })).toBe("8.8.4.4");
  });

  test("refuses after the deadline when the name server does not respond", async () => {
    await using dns = await startDnsServer(() => "silent");
    let lookup: AbortSignal | undefined;
    const resolve: Resolve = (name, options) => {
      lookup = options?.signal;
      return dns.resolve(name, options);
    };
    expect(await verdict("https://slow.example/", { resolve, dnsTimeoutMs: 20 })).toBe("dns");
    expect(dns.queries).toEqual(["slow.example"]);
    expect(lookup?.aborted).toBe(true);
    const deaf = async () => new Promise<string[]>(() => undefined);
    expect(await verdict("https://slow.example/", { resolve: deaf, dnsTimeoutMs: 20 })).toBe("dns");
  });

  test("asks the system's resolver by default", async () => {
    const guard = createUrlGuard({ allowCidrs: [], allowHttp: false });
    expect(expectErr(await guard.check("https://localhost/")).kind).toBe("address");
  });

  test("parses a URL once, and returns the same object for all checks of its text", async () => {
    const guard = guardOf();
    const [first, second] = [
      await guard.check("https://good.example/"),
      await guard.check("https://good.example/"),
    ];
    expect(expectOk(second).url).toBe(expectOk(first).url);
  });

  test("resolves again at every check and uses only the latest result", async () => {
    await using dns = await startDnsServer((_name, nth) => [nth === 0 ? PUBLIC : "10.0.0.1"]);
    const guard = guardOf({ resolve: dns.resolve });
    expect(expectOk(await guard.check("https://rebind.example/"))).toMatchObject({ address: PUBLIC });
    expectErr(await guard.check("https://rebind.example/"));
    expect(dns.queries).toEqual(["rebind.example", "rebind.example"]);
  });

  test("never throws, and accepts only https to a public address", async () => {
    const guard = guardOf({ resolve: async () => ["8.8.8.8"] });
    const part = fc.oneof(
      fc.constantFrom(
        "https://",
        "http://",
        "//",
        "@",
        ":",
        "[",
        "]",
        "%",
        ".",
        "/",
        "\\",
        "127.0.0.1",
        "::1",
        "#",
      ),
      fc.string({ maxLength: 6, unit: "binary" }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const outcome = await guard.check(`https://${parts.join("")}`);
        if (!outcome.ok) return;
        const { url, address } = outcome.value;
        expect(url.protocol).toBe("https:");
        expect([url.username, url.password]).toEqual(["", ""]);
        expect(address).not.toMatch(/^(127\.|::|0\.|10\.)/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("allowed networks", () => {
  const cases: readonly [string[], string, boolean][] = [
    [["10.0.0.0/8"], "https://10.9.8.7/", true],
    [["10.0.0.0/8"], "https://db.internal/", true],
    [["10.0.0.0/8"], "https://mixed.example/", true],
    [["10.0.0.0/8"], "https://11.0.0.1/", true],
    [["10.0.0.0/8"], "https://192.168.0.1/", false],
    [["10.0.0.0/8"], "https://[::ffff:10.0.0.1]/", false],
    [["10.0.0.0/8"], "https://mapped.example/", false],
    [["10.1.2.3/32"], "https://10.1.2.3/", true],
    [["10.1.2.3/32"], "https://10.1.2.4/", false],
    [["10.0.0.128/25"], "https://10.0.0.127/", false],
    [["fd00::/8"], "https://[fd00::1]/", true],
    [["127.0.0.0/8"], "https://localhost/", false],
    [["127.0.0.0/8", "::1/128"], "https://localhost/", true],
    [["127.0.0.1/32"], "https://127.0.0.1/", true],
    // A wide network allows private addresses, but no more dangerous classes.
    [["0.0.0.0/0", "::/0"], "https://192.168.0.1/", true],
    [["0.0.0.0/0", "::/0"], "https://100.64.0.1/", true],
    [["0.0.0.0/0", "::/0"], "https://[fd00::1]/", true],
    [["0.0.0.0/0", "::/0"], "https://127.0.0.1/", false],
    [["0.0.0.0/0", "::/0"], "https://[::1]/", false],
    [["0.0.0.0/0", "::/0"], "https://169.254.169.254/", false],
    [["0.0.0.0/0", "::/0"], "https://[fd00:ec2::254]/", false],
    [["0.0.0.0/0", "::/0"], "https://[64:ff9b::a00:1]/", false],
    [["169.254.0.0/16"], "https://169.254.1.1/", true],
    [["169.254.0.0/16"], "https://169.254.169.254/", false],
    [["169.254.169.254/32"], "https://169.254.169.254/", true],
    // Half of it is public.
    [["169.254.1.1/15"], "https://169.254.1.1/", false],
    [["fe80::/10"], "https://[fe80::1]/", true],
    // Never allowed: they reach this machine, or all machines.
    [["0.0.0.0/8"], "https://0.0.0.0/", false],
    [["224.0.0.0/4"], "https://224.0.0.1/", false],
    [["::ffff:0:0/96"], "https://[::ffff:10.0.0.1]/", false],
  ];
  test.each(cases)("%j and %s: %p", async (allowCidrs, url, passes) => {
    const outcome = await guardOf({ allowCidrs }).check(url);
    expect(outcome.ok).toBe(passes);
  });

  test("allowHttp allows http and nothing else", async () => {
    expect(await verdict("http://good.example/", { allowHttp: true })).toBe(PUBLIC);
    expect(await verdict("http://10.0.0.1/", { allowHttp: true })).toBe("address");
    expect(await verdict("ftp://good.example/", { allowHttp: true })).toBe("scheme");
    const reasonOf = async (allowHttp: boolean) =>
      expectErr(await guardOf({ allowHttp }).check("ftp://good.example/")).reason;
    expect(await Promise.all([false, true].map(reasonOf))).toEqual([
      "must use https",
      "must use https or http",
    ]);
    expect(await verdict("http://user@good.example/", { allowHttp: true })).toBe("credentials");
  });
});
