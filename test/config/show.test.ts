import { expect, test } from "bun:test";
import fc from "fast-check";
import { maskConfig } from "../../src/config/load.ts";
import { secretSettings } from "../../src/config/secret-settings.ts";
import { maskSecret, secretTexts } from "../../src/config/secrets.ts";
import { findSetting, settings } from "../../src/config/settings/settings.ts";
import { toToml } from "../../src/config/values.ts";
import { load } from "./input.ts";

const RPC_URL = "https://rpc-user:p4ssw0rd%21@eth.example:8443/v2/abcdefabcdef0123?key=topsecretkey";

test("of a secret URL only scheme, host and port are shown", () => {
  expect(maskSecret(RPC_URL, "url")).toBe("https://***@eth.example:8443/***");
  expect(maskSecret("https://eth.example/v2/key", "url")).toBe("https://eth.example/***");
  expect(maskSecret("https://token@eth.example", "url")).toBe("https://***@eth.example");
  expect(maskSecret("http://host:3383", "url")).toBe("http://host:3383");
  expect(maskSecret("", "url")).toBe("");
  expect(maskSecret("no url at all", "url")).toBe("***");
});

test("of a secret text nothing is shown, whatever it looks like", () => {
  for (const text of ["hunter2", "tricky:text", "http://hunter2"])
    expect(maskSecret(text, "text")).toBe("***");
  expect(maskSecret("", "text")).toBe("");
});

test("each secret setting is a setting, and is masked as its kind says", () => {
  expect(secretSettings.length).toBeGreaterThan(5);
  for (const { section, name, secret } of secretSettings) {
    expect(findSetting(`${section}.${name}`)?.secret).toBe(secret);
  }
});

test("the shown settings hold nothing of a secret, and every setting", () => {
  const { config } = load({
    env: {
      SVC_CHAIN_L1_RPC_URL: RPC_URL,
      SVC_UPSTREAM_USERNAME: "me",
      SVC_UPSTREAM_PASSWORD_FILE: "/run/password",
    },
    files: { "/run/password": "open:sesame1\n" },
  });
  const shown = toToml(maskConfig(config));
  for (const part of ["rpc-user", "p4ssw0rd", "abcdefabcdef0123", "topsecretkey", "open", "sesame1"]) {
    expect(shown).not.toContain(part);
  }
  for (const { name } of settings) expect(shown).toContain(`\n${name} = `);
});

test("each item of a secret list is masked and removed from logs", () => {
  const keys = ["a".repeat(64), "b".repeat(64)];
  const { config } = load({ env: { SVC_SIGNERS_PREVIOUS_ENCRYPTION_KEYS: keys.join(",") } });
  expect(maskConfig(config).signers).toMatchObject({ previous_encryption_keys: ["***", "***"] });
  expect(secretTexts(config)).toEqual(expect.arrayContaining(keys));
});

test("the texts that logs must not show are the secrets and their telling parts, the longest first", () => {
  const texts = secretTexts(load({ env: { SVC_CHAIN_L1_RPC_URL: RPC_URL } }).config);
  for (const part of [RPC_URL, "rpc-user", "p4ssw0rd%21", "p4ssw0rd!", "abcdefabcdef0123", "topsecretkey"]) {
    expect(texts).toContain(part);
  }
  expect(texts.map(({ length }) => length)).toEqual(texts.map(({ length }) => length).sort((a, b) => b - a));
  expect(secretTexts(load({ env: { SVC_UPSTREAM_URL: "http://host:3383" } }).config)).toEqual([]);
  const login = (password: string) =>
    load({ env: { SVC_UPSTREAM_USERNAME: "me", SVC_UPSTREAM_PASSWORD: password } }).config;
  expect(secretTexts(login("open:sesame1"))).toEqual(["open:sesame1"]);
  // What is shorter than a word would take the log apart with it.
  expect(secretTexts(login("info"))).toEqual([]);
  expect(secretTexts(load().config)).toEqual([]);
});

test("settings that are printed load back as the same settings, whatever they are", () => {
  const integer = (min: number, max: number) => fc.integer({ min, max });
  const origin = fc.constantFrom("*", "https://a.example", "http://localhost:3000");
  const path = fc
    .string({ minLength: 1, maxLength: 60, unit: "grapheme" })
    .filter((text) => !/\p{Cc}|\p{Cs}/u.test(text));
  const arbitrary = fc.record({
    data: fc.record({ dir: fc.oneof(path, fc.constantFrom('a"b', "c:\\d", "#x", "'''")) }),
    http: fc.record({
      port: integer(0, 65_535).filter((port) => port !== 3383),
      max_ids: integer(1, 1000),
      cors_origins: fc.array(origin, { maxLength: 4 }),
      host: fc.constantFrom("0.0.0.0", "::1", "node.example"),
    }),
    net: fc.record({
      allow_http: fc.boolean(),
      allow_cidrs: fc.array(fc.constantFrom("10.0.0.0/8", "fd00::/8"), { maxLength: 3 }),
    }),
    log: fc.record({ format: fc.constantFrom("json", "pretty") }),
    upstream: fc.record({
      url: fc.constantFrom("", "http://host:3383", "https://host"),
      fids: fc.array(integer(1, 2 ** 53 - 1), { maxLength: 3 }),
    }),
    chain: fc.record({ l1_rpc_url: fc.constantFrom("", "https://host", "https://u:secret@host/x?y#z") }),
  });
  fc.assert(
    fc.property(arbitrary, fc.string(), (given, note) => {
      const first = load({ files: { "/cwd/svc.toml": toToml(given) } });
      expect(first.config).toMatchObject(given);
      const printed = toToml(maskConfig(first.config), () => note);
      const second = load({ files: { "/cwd/svc.toml": printed } });
      expect(second.config).toEqual({
        ...first.config,
        chain: {
          ...first.config.chain,
          l1_rpc_url: maskSecret(first.config.chain.l1_rpc_url, "url"),
          op_rpc_url: maskSecret(first.config.chain.op_rpc_url, "url"),
        },
      });
    }),
  );
});
